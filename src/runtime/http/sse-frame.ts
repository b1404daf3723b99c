import { textOption } from '../arguments.ts';
import { dictGet } from '../dict.ts';
import { stringify } from '../json.ts';
import { Dict, type Value } from '../value.ts';

/** One event of a `text/event-stream`, or a comment that keeps the connection alive. */
export type SseFrame =
  | {
      readonly type: 'event';
      readonly event: string | undefined;
      readonly data: string;
      readonly id: string | undefined;
      readonly retryMs: number | undefined;
    }
  | { readonly type: 'comment'; readonly comment: string };

/** An event of a script: a text is its data, a dict names the fields. Data that is no text becomes JSON. */
export function sseFrame(value: Value, options: Dict = new Dict()): SseFrame {
  const fields = value instanceof Dict ? value : options;
  const data = value instanceof Dict ? dictGet(value, 'data') : value;
  const retry = dictGet(fields, 'retry_ms') ?? dictGet(fields, 'retry') ?? dictGet(options, 'retry_ms');
  return {
    type: 'event',
    event: textOption(fields, 'event') ?? textOption(options, 'event'),
    data: data === undefined ? '' : typeof data === 'string' ? data : stringify(data),
    id: textOption(fields, 'id') ?? textOption(options, 'id'),
    retryMs: typeof retry === 'number' ? retry : undefined,
  };
}

/** The frame as it goes over the wire. A line end inside a field would begin another field. */
export function writeSse(frame: SseFrame): string {
  const lines = (prefix: string, text: string): string[] => text.split(/\r\n|\r|\n/).map((line) => `${prefix}: ${line}`);
  if (frame.type === 'comment') return `${lines('', frame.comment).join('\n')}\n\n`;
  const single = (name: string, value: string | number | undefined): string[] =>
    value === undefined ? [] : [`${name}: ${String(value).replaceAll(/[\r\n\0]+/g, ' ')}`];
  return `${[...single('id', frame.id), ...single('event', frame.event), ...single('retry', frame.retryMs), ...lines('data', frame.data)].join('\n')}\n\n`;
}
