import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../src/base/json.ts';
import { decodeSnapshot, renderSnapshot } from '../../src/store/snapshot-file.ts';
import { parseByLists, RenderedLists } from '../../src/store/snapshot-lists.ts';
import { sampleSnapshot } from './sample-snapshot.ts';

/** Items of a list are objects in life, but the format asks for nothing. */
const item = fc.oneof(
  { weight: 3, arbitrary: fc.record({ role: fc.constant('user'), content: fc.string({ unit: 'binary' }) }) },
  fc.jsonValue(),
);

/** What a loop does to a list between two writes: something goes from its end or its front, something is added. */
const step = fc.record({
  gone: fc.constantFrom(0, 0, 1, 2, 100),
  fromFront: fc.boolean(),
  added: fc.array(item, { maxLength: 4 }),
});

function changed(items: readonly unknown[], { gone, fromFront, added }: { gone: number; fromFront: boolean; added: unknown[] }): unknown[] {
  const kept = fromFront ? items.slice(gone) : items.slice(0, Math.max(0, items.length - gone));
  return [...kept, ...added];
}

function snapshotOf(messages: readonly unknown[], events: readonly unknown[]) {
  const transcript = { _type: 'transcript', state: 'paused', messages, metadata: { messages: [1] }, events, assets: [] };
  return sampleSnapshot({ transcript: transcript as unknown as JsonObject });
}

function reparsed(bytes: Uint8Array): { readonly messages: unknown[]; readonly events: unknown[]; readonly lists: RenderedLists } {
  const { snapshot, lists } = decodeSnapshot(bytes, { target: 'x' });
  const { messages, events } = snapshot.transcript as unknown as { messages: unknown[]; events: unknown[] };
  return { messages, events, lists };
}

describe('T30 the long lists of a snapshot', () => {
  test('a file of lists that changed is the file that is rendered from nothing', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(step, step), { maxLength: 6 }), (steps) => {
        const lists = new RenderedLists();
        let messages: unknown[] = [];
        let events: unknown[] = [];
        for (const [ofMessages, ofEvents] of steps) {
          messages = changed(messages, ofMessages);
          events = changed(events, ofEvents);
          const snapshot = snapshotOf(messages, events);
          expect(Buffer.from(renderSnapshot(snapshot, lists).bytes).toString()).toBe(
            Buffer.from(renderSnapshot(snapshot).bytes).toString(),
          );
        }
      }),
    );
  });

  test('and so is one that goes on from a file that was read', () => {
    fc.assert(
      fc.property(fc.array(item, { maxLength: 6 }), fc.array(item, { maxLength: 6 }), step, step, (messages, events, one, other) => {
        const read = reparsed(renderSnapshot(snapshotOf(messages, events)).bytes);
        expect(JSON.stringify(read.messages)).toBe(JSON.stringify(messages));
        expect(JSON.stringify(read.events)).toBe(JSON.stringify(events));
        const next = snapshotOf(changed(read.messages, one), changed(read.events, other));
        expect(Buffer.from(renderSnapshot(next, read.lists).bytes).toString()).toBe(Buffer.from(renderSnapshot(next).bytes).toString());
      }),
    );
  });

  test('what the last file holds is not rendered again', () => {
    const message = { role: 'user', content: 'a' };
    const events = [{ kind: 'message' }, { kind: 'system_reminder' }];
    const lists = new RenderedLists();
    const { bytes } = renderSnapshot(snapshotOf([message], events), lists);
    Object.assign(message, { content: 'b' });
    const again = lists.of(snapshotOf([message, message], events.slice(0, 1)).transcript);
    expect(again.map(({ name, known }) => [name, known])).toEqual([
      ['messages', 1],
      ['events', 1],
    ]);
    expect(Buffer.from(bytes).toString()).toContain(String(again[0]?.bytes));
    lists.clear();
    expect(lists.of({ messages: [message] })).toMatchObject([{ known: 0 }]);
  });

  const transcript = { messages: [{ role: 'user' }], events: [{ kind: 'message', blocks: [] }] };
  const ours = JSON.stringify({ id: 'w', transcript }, null, 2);
  test.each<readonly [what: string, text: string, layout: 'ours' | 'other']>([
    ['our own layout', ours, 'ours'],
    ['one line', JSON.stringify({ transcript }), 'other'],
    ['another indentation', JSON.stringify({ transcript }, null, 1), 'other'],
    ['line breaks of Windows', ours.replaceAll('\n', '\r\n'), 'other'],
    ['a list on one line', ours.replace(/"messages": \[[^\]]*\]/, '"messages": [{"role": "user"}]'), 'ours'],
    ['a list that is indented otherwise', ours.replace('      {\n        "role": "user"\n      }', '{"role":\n"user"}'), 'ours'],
    ['a bracket where the list would end', ours.replace('"blocks": []', '"blocks": [\n    ]'), 'other'],
    ['a list twice', ours.replace('    "events"', '    "messages": [],\n    "events"'), 'other'],
    ['a list twice, once in disguise', ours.replace('    "events"', '    "m\\u0065ssages": [2],\n    "events"'), 'other'],
    ['a transcript twice', ours.replace(/\n\}$/, ',\n  "transcript": {"messages": [], "events": [3]}\n}'), 'other'],
    ['no transcript', JSON.stringify({ messages: [1], events: [2] }, null, 2), 'other'],
    ['lists elsewhere', JSON.stringify({ transcript: { a: transcript } }, null, 2), 'other'],
    ['what is no JSON', ours.slice(0, -5), 'other'],
  ])('%s is read as JSON reads it', (_what, text, layout) => {
    const whole = (): Json => {
      try {
        return JSON.parse(text) as Json;
      } catch {
        return null;
      }
    };
    const parsed = parseByLists(Buffer.from(text));
    if (parsed !== undefined) expect(parsed.document).toEqual(whole());
    expect(parsed !== undefined).toBe(layout === 'ours');
  });
});
