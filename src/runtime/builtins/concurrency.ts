import { pollChannels } from '../../tasks/channel.ts';
import type { BuiltinGroup } from '../builtin.ts';
import { caughtValue } from '../caught.ts';
import { ChannelHandle, queueOf, waitForChannel } from '../concurrency/channel.ts';
import { parallelRace } from '../concurrency/parallel.ts';
import { awaitTask, cancelGracefully, cancelTask } from '../concurrency/tasks.ts';
import type { Context } from '../context.ts';
import { dictGet, dictOf } from '../dict.ts';
import { display } from '../display.ts';
import { durationMs } from '../duration.ts';
import { runtimeError, thrownText, typeError } from '../errors.ts';
import { drain, requireSource } from '../iterate.ts';
import { andThen } from '../maybe-async.ts';
import { payloadOf } from '../result.ts';
import { isCancelled } from '../task-context.ts';
import { CALL, Dict, END, isCallable, typeOf, type Value } from '../value.ts';

const DEFAULT_CAPACITY = 256;
const DEFAULT_GRACE_MS = 5_000;

export const concurrencyBuiltins: BuiltinGroup = {
  name: 'concurrency',
  title: 'Tasks and channels',
  errors: [
    { text: 'NAME: first argument must be a channel', when: '`send`, `receive`, `try_receive`, `close_channel`' },
    { text: 'Type error: channel_select: first argument must be a list, got T', when: '`channel_select`' },
    { text: 'Runtime error: parallel_race: expected at least one item', when: 'the list is empty' },
    { text: 'Runtime error: parallel_race: all N task(s) failed: A; B', when: 'nobody won' },
    { text: 'kind:cancelled:VM cancelled by host', when: 'inside of a task that was cancelled' },
  ],
  builtins: {
    await: {
      signature: '(handle: any) -> any',
      doc: 'Waits for a spawned task and gives its value, or throws its error. What the task printed appears now. A second await gives nil; a value that is no task is returned as it is.',
      colour: 'async',
      call: (context, _depth, handle) => awaitTask(context, handle),
    },
    cancel: {
      signature: '(handle: task_handle | any) -> nil',
      doc: 'Drops a spawned task: it unwinds without further output.',
      call: (_context, _depth, handle) => {
        cancelTask(handle);
        return undefined;
      },
    },
    cancel_graceful: {
      signature: '(handle: any, timeout: duration | int = 5000) -> Result',
      doc: 'Asks a task to end, which it sees by is_cancelled(), and waits. Gives Ok with its value when it ended in time; otherwise it is aborted and the result is an Err.',
      colour: 'async',
      call: (context, _depth, handle, timeout) => cancelGracefully(context, handle, durationMs(timeout) ?? DEFAULT_GRACE_MS),
    },
    is_cancelled: {
      signature: '() -> bool',
      doc: 'True when this task was cancelled or asked to end.',
      call: (context) => isCancelled(context),
    },
    yield_now: {
      signature: '() -> nil',
      doc: 'Lets the other tasks run to their next wait.',
      colour: 'async',
      call: async (context) => {
        await context.run.platform.clock.sleep(0, context.signal);
        return undefined;
      },
    },
    parallel_race: {
      signature: '(items: list, callback: fn(any) -> any, opts: int | dict = nil) -> any',
      doc: 'Calls fn for all items at once; the first plain value or Ok payload wins and the other calls are cancelled. Errors and Err results lose. Throws when nobody wins. opts limits how many run at the same time: an int, or {max_concurrent}.',
      colour: 'async',
      call: race,
    },
    channel: {
      signature: '(name: any = "default", capacity: any = 256) -> channel',
      doc: 'A queue between tasks that holds up to capacity values.',
      call: (_context, _depth, name, capacity) =>
        new ChannelHandle(name === undefined ? 'default' : display(name), typeof capacity === 'number' ? capacity : DEFAULT_CAPACITY),
    },
    send: {
      signature: '(channel: channel | any, value: any) -> bool',
      doc: 'Puts a value in a channel and waits while it is full. False when the channel is closed.',
      colour: 'async',
      call: (context, _depth, channel, value) => channelArgument('send', channel).queue.send(value, context.signal),
    },
    receive: {
      signature: '(channel: channel | any) -> any',
      doc: 'The next value of a channel; waits for one. Nil when the channel is closed and empty.',
      colour: 'async',
      call: (context, _depth, channel) =>
        andThen(channelArgument('receive', channel).pull(context), (value) => (value === END ? undefined : value)),
    },
    try_receive: {
      signature: '(channel: channel | any) -> any',
      doc: 'The next value of a channel, or nil when there is none now.',
      call: (_context, _depth, channel) => channelArgument('try_receive', channel).queue.tryReceive()?.value,
    },
    close_channel: {
      signature: '(channel: channel | any) -> nil',
      doc: 'Ends a channel. What is in it can still be received.',
      call: (_context, _depth, channel) => {
        channelArgument('close_channel', channel).queue.close();
        return undefined;
      },
    },
    channel_select: {
      signature: '(channels: list<channel>, timeout: duration | int = nil) -> dict | nil',
      doc: 'Waits for the first of several channels that has a value: {index, value, channel} with the name of the channel. Nil when the time is up or all are closed.',
      colour: 'async',
      call: (context, _depth, channels, timeout) => {
        if (!Array.isArray(channels)) throw typeError(`channel_select: first argument must be a list, got ${typeOf(channels)}`);
        return selected(context, 'channel_select', channels as readonly Value[], timeout);
      },
    },
    select: {
      signature: '(...channels: channel) -> dict',
      doc: 'Waits for the first of the channels that has a value: {index, value, channel}. With all closed the index is -1.',
      colour: 'async',
      call: async (context, _depth, ...channels) => (await selected(context, 'select', channels, undefined)) ?? ALL_CLOSED,
    },
  },
};

const ALL_CLOSED = dictOf([
  ['channel', undefined],
  ['index', -1],
  ['value', undefined],
]);

async function selected(context: Context, caller: string, channels: readonly Value[], timeout: Value): Promise<Dict | undefined> {
  const queues = channels.map((channel) => queueOf(caller, channel));
  const found = pollChannels(queues) ?? (await waitForChannel(context, queues, timeout));
  if (found === undefined) return undefined;
  return dictOf([
    ['channel', (channels[found.index] as ChannelHandle).name],
    ['index', found.index],
    ['value', found.value],
  ]);
}

function channelArgument(caller: string, value: Value): ChannelHandle {
  if (value instanceof ChannelHandle) return value;
  throw thrownText(`${caller}: first argument must be a channel`);
}

async function race(context: Context, depth: number, items: Value, fn: Value, opts: Value): Promise<Value> {
  if (!isCallable(fn)) throw typeError(`parallel_race: expected callable, got ${typeOf(fn)}`);
  const list = Array.isArray(items) ? (items as readonly Value[]) : await drain(context, depth, requireSource(items));
  if (list.length === 0) throw runtimeError('parallel_race: expected at least one item');
  const limit = opts instanceof Dict ? dictGet(opts, 'max_concurrent') : opts;
  const result = await parallelRace(context, depth, list, limit, (child, childDepth, item) => fn(child, childDepth + CALL, item));
  if (result.won) return result.value;
  const losses = result.losses.map((loss) => display(loss.kind === 'failed' ? caughtValue(loss.error) : payloadOf(loss.value)));
  throw runtimeError(`parallel_race: all ${list.length} task(s) failed: ${losses.join('; ')}`);
}
