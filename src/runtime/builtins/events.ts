import { isJsonObject } from '../../base/json.ts';
import { channelEvents, emitChannel, shownRecord } from '../../lifecycle/channels.ts';
import { lifecycleOf } from '../agents/agent-lifecycle.ts';
import { agentValue, field, optionalText, withoutHarness } from '../agents/agent-values.ts';
import { channelPlace, triggerService } from '../agents/trigger-service.ts';
import type { Builtin, BuiltinGroup } from '../builtin.ts';
import type { Context } from '../context.ts';
import { display } from '../display.ts';
import { durationMs } from '../duration.ts';
import { plainError } from '../errors.ts';
import { SerialSource } from '../iterate.ts';
import { toJson } from '../json.ts';
import { END, Producer, type Pulled, type Value } from '../value.ts';

/** Channels and the event log (spec/agents.md 9.5). */
/** Made anew for each name: one function must not stand behind two. */
const emit = (): Builtin => ({
  signature: '(topic: string, kind: string, payload: any = nil, headers: any = nil) -> int',
  doc: 'Appends a record to a topic of the event log and gives its id, which counts up from 1.',
  call: (context, _depth, ...args) => {
    const [topic, kind, payload, headers] = withoutHarness(args);
    const lifecycle = lifecycleOf(context.run);
    const given = toJson(headers);
    const record = lifecycle.eventLog.append({
      topic: display(topic),
      kind: display(kind),
      payload: toJson(payload),
      headers: isJsonObject(given) ? given : {},
      occurredAt: lifecycle.platform.clock.now(),
    });
    return record.id;
  },
});

export const EVENTS: BuiltinGroup = {
  name: 'events',
  title: 'Channels and the event log',
  errors: [
    { text: 'event_log.subscribe: topic is required', when: 'no topic in the options' },
    { text: 'HARN-CHN-…: …', when: 'a channel name, scope or payload that `emit_channel` refuses; `harn explain CODE` says more' },
  ],
  builtins: {
    emit_channel: {
      signature: '(name: string, payload: any = nil, options: any = nil) -> dict',
      doc: 'Sends a payload to a channel and waits until every binding that listens has been dispatched; the receipt says when the same id was sent before.',
      colour: 'async',
      call: async (context, _depth, ...args) => {
        const [name, payload, options] = withoutHarness(args);
        const place = channelPlace(context, {
          sessionId: optionalText(field(options, 'session_id')),
          pipelineId: optionalText(field(options, 'pipeline_id')),
        });
        const receipt = await emitChannel(
          lifecycleOf(context.run),
          triggerService(context.run).dispatcher,
          display(name),
          toJson(payload),
          place,
          {
            id: optionalText(field(options, 'id')),
            ttlMs: durationMs(field(options, 'ttl')),
            scope: optionalText(field(options, 'scope')),
            emittedBy: place.sessionId,
          },
        );
        return agentValue(receipt);
      },
    },
    channel_events: {
      signature: '(name: string, options: any = nil) -> list',
      doc: 'Records of a channel, oldest first; `limit` and `from_cursor` choose among them.',
      call: (context, _depth, ...args) => {
        const [name, options] = withoutHarness(args);
        const limit = field(options, 'limit');
        const cursor = field(options, 'from_cursor');
        const records = channelEvents(lifecycleOf(context.run), display(name), channelPlace(context), {
          limit: typeof limit === 'number' ? limit : undefined,
          fromCursor: typeof cursor === 'number' ? cursor : undefined,
        });
        return records.map(agentValue);
      },
    },
    'event_log.emit': emit(),
    'event_log.append': emit(),
    'event_log.latest': {
      signature: '(topic: any) -> any',
      doc: 'Id of the newest record of a topic; nil when there is none.',
      call: (context, _depth, ...args) => lifecycleOf(context.run).eventLog.latest(display(withoutHarness(args)[0])),
    },
    'event_log.subscribe': {
      signature: '(options: dict) -> stream',
      doc: 'Records of `topic` as they come, from `from_cursor` or from now; `kind_prefix` chooses among them. Never ends by itself.',
      call: (context, _depth, ...args) => {
        const [options] = withoutHarness(args);
        const topic = field(options, 'topic');
        if (typeof topic !== 'string') throw plainError('event_log.subscribe: topic is required');
        const cursor = field(options, 'from_cursor');
        const start = typeof cursor === 'number' ? cursor : (lifecycleOf(context.run).eventLog.latest(topic) ?? 0);
        return new Producer('stream', new TopicSource(topic, start, optionalText(field(options, 'kind_prefix')) ?? ''));
      },
    },
  },
};

/** How often another process's records are looked for while nothing comes from this one. */
const POLL_MS = 200;

/** A topic as a stream. */
class TopicSource extends SerialSource {
  readonly #topic: string;
  readonly #prefix: string;
  #cursor: number;
  #isOver = false;

  constructor(topic: string, cursor: number, prefix: string) {
    super();
    this.#topic = topic;
    this.#cursor = cursor;
    this.#prefix = prefix;
  }

  async next(context: Context): Promise<Pulled> {
    const { eventLog, realClock } = lifecycleOf(context.run);
    while (!this.#isOver) {
      const [record] = eventLog.read(this.#topic, this.#cursor, 1);
      if (record === undefined) {
        await arrival(eventLog, this.#topic, realClock, context.signal);
        continue;
      }
      this.#cursor = record.id;
      if (record.kind.startsWith(this.#prefix)) return agentValue(shownRecord(record)) as Value;
    }
    return END;
  }

  abandon(): void {
    this.#isOver = true;
  }
}

/** Resolves when this process appends to the topic, or when it is time to look at the file again. */
function arrival(
  eventLog: ReturnType<typeof lifecycleOf>['eventLog'],
  topic: string,
  clock: ReturnType<typeof lifecycleOf>['realClock'],
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const finish = (settle: () => void): void => {
      stop();
      cancel();
      signal.removeEventListener('abort', onAbort);
      settle();
    };
    const onAbort = (): void => finish(() => reject(signal.reason));
    const stop = eventLog.observe(topic, () => finish(resolve));
    const cancel = clock.timer(POLL_MS, () => finish(resolve));
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
}
