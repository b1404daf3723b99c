import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '../../src/base/json.ts';
import { createNodePlatform } from '../../src/platform/node-platform.ts';
import type { Platform } from '../../src/platform/platform.ts';
import { runScript } from '../../src/runtime/run.ts';

/** A folder with a script and its state. Each run in it is a process of its own as far as the product goes. */
export class ScriptFolder {
  readonly path = mkdtempSync(join(tmpdir(), 'harn-script-'));

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }

  /** Runs a script, in which DIR is a directory of its own. @returns what it printed, and its error as a last line */
  async lines(text: string, platform: Platform = createNodePlatform()): Promise<string[]> {
    const path = join(this.path, 'test.harn');
    const whole = text.replaceAll('DIR', JSON.stringify(join(this.path, 'd')));
    writeFileSync(path, whole);
    let out = '';
    const outcome = await runScript({
      platform,
      script: { path, text: whole },
      argv: [],
      stateRoot: join(this.path, '.harn'),
      output: {
        out: (piece) => {
          out += piece;
        },
        err: () => {},
      },
    });
    const printed = out.split('\n').slice(0, -1);
    if (outcome.kind === 'failed') printed.push(`FAILED ${outcome.failure.message}`);
    if (outcome.kind === 'rejected') printed.push(`REJECTED ${outcome.diagnostics.map(({ message }) => message).join('; ')}`);
    return printed;
  }

  json(name: string): JsonObject {
    return JSON.parse(readFileSync(join(this.path, name), 'utf8')) as JsonObject;
  }

  /** The snapshot of the one worker. */
  worker(): JsonObject {
    const [name] = readdirSync(join(this.path, '.harn/workers')).filter((entry) => /^worker_[0-9a-f-]+\.json$/.test(entry));
    return this.json(join('.harn/workers', name ?? ''));
  }
}
