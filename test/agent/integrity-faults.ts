import { type Message, messageCalls } from '../../src/agent/transcript/message.ts';

export interface IntegrityFault {
  readonly kind: 'missing' | 'extra';
  /** Index of the message. */
  readonly index: number;
  readonly toolCallId: string | undefined;
}

/**
 * The invariant of every boundary and snapshot (3.9): each call of an assistant message has exactly one result,
 * directly after it. Calls and results are paired within their turn, since some services use an id again.
 */
export function integrityFaults(messages: readonly Message[]): IntegrityFault[] {
  const faults: IntegrityFault[] = [];
  let open: string[] = [];
  let opener = -1;
  const close = (): void => {
    for (const toolCallId of open) faults.push({ kind: 'missing', index: opener, toolCallId });
    open = [];
  };
  messages.forEach((message, index) => {
    if (message.role !== 'tool') {
      close();
      open = messageCalls(message).map((call) => call.id);
      opener = index;
      return;
    }
    const at = open.indexOf(message.tool_call_id ?? '');
    if (at < 0) faults.push({ kind: 'extra', index, toolCallId: message.tool_call_id });
    else open.splice(at, 1);
  });
  close();
  return faults;
}
