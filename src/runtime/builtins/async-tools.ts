import { agentValue, field, optionsJson, withoutHarness } from '../agents/agent-values.ts';
import { loopTool, startAsyncWork } from '../agents/async-handles.ts';
import { type AsyncWork, cancelAsyncWork } from '../agents/async-registry.ts';
import type { BuiltinGroup } from '../builtin.ts';
import { builtinFunction, isBuiltin, loadBuiltins } from '../builtin-access.ts';
import { callValue } from '../call.ts';
import type { Context, ModuleInfo } from '../context.ts';
import { dictOf } from '../dict.ts';
import { display } from '../display.ts';
import { durationMs } from '../duration.ts';
import { plainError } from '../errors.ts';
import { fromJson } from '../json.ts';
import { isCallable, type Value } from '../value.ts';

/** Background work of tools (spec/agents.md 2.8). */
const NOWHERE: ModuleInfo = { path: '<inline>', directory: '' };

/** What is to run: a function, a tool of the innermost loop, or a builtin. */
async function workOf(context: Context, what: Value, args: Value, options: Value): Promise<AsyncWork> {
  const timeoutMs = timeoutOf(field(options, 'timeout_ms'));
  const given = args === undefined ? [] : [args];
  if (isCallable(what)) {
    const name = what.meta.name === '' ? 'closure' : what.meta.name;
    return { operation: name, descriptor: name, timeoutMs, run: (inside) => callValue(inside, 0, what, ...given) };
  }
  const name = what === undefined ? '' : display(what);
  const tool = loopTool(context, name);
  if (tool !== undefined) {
    const run: AsyncWork['run'] = async ({ signal }) => {
      const answer = await tool.handler(optionsJson(args), { callId: name, signal });
      if (answer.kind === 'park') throw plainError(`async_tool_run: ${name} asked to park; only a call of the loop itself can`);
      return fromJson(answer.value);
    };
    return { operation: name, descriptor: name, timeoutMs, run };
  }
  if (!isBuiltin(name)) throw plainError(`async_tool_run: unknown tool or function \`${name}\``);
  await loadBuiltins(context.run, [name]);
  const builtin = builtinFunction(context.run, name, NOWHERE);
  const list = Array.isArray(args) ? args : given;
  const descriptor = [name, ...list.map(display)].join(' ');
  return { operation: name, descriptor, timeoutMs, run: (inside) => callValue(inside, 0, builtin, ...(list as Value[])) };
}

/** @throws plain error for what bounds nothing */
function timeoutOf(value: Value): number | undefined {
  const ms = durationMs(value);
  if (value !== undefined && ms === undefined)
    throw plainError(`async_tool_run: timeout_ms must be milliseconds or a duration, got ${display(value)}`);
  return ms;
}

export const ASYNC_TOOLS: BuiltinGroup = {
  name: 'async-tools',
  title: 'Background work of tools',
  errors: [
    { text: 'async_tool_run: timeout_ms must be milliseconds or a duration, got V', when: '`timeout_ms` bounds nothing' },
    { text: 'async_tool_run: unknown tool or function `NAME`', when: 'neither the loop has such a tool nor the language such a builtin' },
  ],
  builtins: {
    async_tool_run: {
      signature: '(what: any, args: any = nil, options: any = nil) -> dict',
      doc: 'Starts a function, a tool of the loop or a builtin, and answers at once: `{handle_id, started_at, status, command_or_op_descriptor}`. Its end comes to the session as feedback before the next model call. `timeout_ms` bounds it.',
      colour: 'async',
      call: async (context, _depth, ...args) => {
        const [what, given, options] = withoutHarness(args);
        return agentValue(startAsyncWork(context, await workOf(context, what, given, options)));
      },
    },
    cancel_handle: {
      signature: '(handle: any) -> dict',
      doc: 'Cancels background work: `{cancelled}`, false when it has ended already.',
      call: (context, _depth, ...args) => {
        const [handle] = withoutHarness(args);
        const id = field(handle, 'handle_id') ?? handle;
        return dictOf([['cancelled', cancelAsyncWork(context.run, id === undefined ? '' : display(id))]]);
      },
    },
  },
};
