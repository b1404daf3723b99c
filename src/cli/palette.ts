import type { Palette } from '../diagnostics/render.ts';
import { PLAIN } from '../diagnostics/render.ts';
import type { Platform } from '../platform/platform.ts';

/** Colours only on a terminal and without NO_COLOR; chalk is loaded only then. */
export async function paletteFor(platform: Platform, stream: 'stdout' | 'stderr'): Promise<Palette> {
  if (!wantsColour(platform, stream)) return PLAIN;
  const { Chalk } = await import('chalk');
  const chalk = new Chalk({ level: 1 });
  return { error: chalk.red.bold, warning: chalk.yellow.bold, gutter: chalk.blue, bold: chalk.bold };
}

function wantsColour(platform: Platform, stream: 'stdout' | 'stderr'): boolean {
  if ((platform.env.get('NO_COLOR') ?? '') !== '') return false;
  if ((platform.env.get('FORCE_COLOR') ?? '') !== '') return platform.env.get('FORCE_COLOR') !== '0';
  return platform.stdio.isTty(stream) && platform.env.get('TERM') !== 'dumb';
}
