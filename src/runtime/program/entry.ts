import type { ModuleFacts } from '../../language/emit.ts';
import type { Context } from '../context.ts';
import { globalValue } from '../globals.ts';
import type { Value } from '../value.ts';

export interface Entry {
  readonly name: string;
  readonly params: readonly { readonly name: string; readonly type: string | undefined }[];
}

/**
 * What a run executes (spec/language.md 5.8, 15.2): the pipeline `default`, else `fn main` or the pipeline `main`, else
 * the first pipeline, else the file itself (undefined).
 */
export function chooseEntry(facts: ModuleFacts): Entry | undefined {
  const named = (name: string): Entry | undefined => facts.pipelines.find((pipeline) => pipeline.name === name);
  const main = facts.hasMain ? { name: 'main', params: [{ name: 'harness', type: 'Harness' }] } : undefined;
  return named('default') ?? main ?? named('main') ?? facts.pipelines[0];
}

/** Arguments of the entry: the handle, the project root, and nil for what nobody supplies. */
export async function bindParameters(context: Context, params: Entry['params']): Promise<Value[]> {
  const values: Value[] = [];
  for (const { name, type } of params) {
    if (type === 'Harness' || name === 'harness' || name === '_harness') values.push(globalValue(context, 'harness'));
    else if (name === 'project') values.push(context.run.projectRoot);
    else values.push(undefined);
  }
  return values;
}
