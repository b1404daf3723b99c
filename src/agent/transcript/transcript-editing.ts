import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import type { Transcript } from './transcript.ts';

/** What scripts do to transcripts beside what loops do. */

/** @param newId for an asset that brings none */
export function addAsset(transcript: Transcript, asset: JsonObject, newId: string): Transcript {
  const added: JsonObject = { _type: 'transcript_asset', ...asset, id: typeof asset.id === 'string' ? asset.id : newId };
  return { ...transcript, assets: [...transcript.assets.filter(({ id }) => id !== added.id), added] };
}

/** Counts of anything shaped like a transcript, also one that a script wrote by hand. */
export function transcriptStats(transcript: JsonObject): JsonObject {
  const messages = objectsOf(transcript.messages);
  const withRole = (...roles: string[]): JsonObject[] => messages.filter(({ role }) => typeof role === 'string' && roles.includes(role));
  const assistant = withRole('assistant');
  return {
    message_count: messages.length,
    user_message_count: withRole('user').length,
    assistant_message_count: assistant.length,
    user_facing_message_count: withRole('user', 'assistant').length,
    tool_result_message_count: withRole('tool', 'tool_result').length,
    tool_call_count: assistant.reduce((sum, { tool_calls: calls }) => sum + objectsOf(calls).length, 0),
    event_count: objectsOf(transcript.events).length,
    visible_event_count: objectsOf(transcript.events).filter(({ visibility }) => visibility === 'public' || visibility === 'visible')
      .length,
  };
}

function objectsOf(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** Beginning and end of a long text; what lies between is counted. */
export function shorten(text: string, maxChars: number): string {
  const points = [...text];
  if (points.length <= maxChars) return text;
  const mark = (left: number): string => `\n[... ${left} characters snipped ...]\n`;
  const kept = Math.max(0, maxChars - mark(points.length).length);
  const head = Math.ceil(kept / 2);
  const tail = kept - head;
  return points.slice(0, head).join('') + mark(points.length - kept) + (tail === 0 ? '' : points.slice(-tail).join(''));
}
