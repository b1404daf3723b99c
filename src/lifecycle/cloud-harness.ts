import type { JsonObject } from '../base/json.ts';
import type { Platform } from '../platform/platform.ts';

/**
 * A receiver outside that promises to wake a suspension (spec/agents.md 13.18). Bound by the environment:
 * HARN_CLOUD_SESSION_ID and HARN_CLOUD_WEBHOOK_URL. It hears who waits for what, never what an agent said.
 */
export interface CloudHarness {
  readonly sessionId: string | undefined;
  /** @returns whether the receiver took it */
  register(ref: { readonly handle: string; readonly suspension: JsonObject; readonly conditions: JsonObject | null }): Promise<boolean>;
}

export function cloudHarnessFromEnvironment(platform: Pick<Platform, 'env' | 'http'>): CloudHarness {
  const sessionId = platform.env.get('HARN_CLOUD_SESSION_ID');
  const url = platform.env.get('HARN_CLOUD_WEBHOOK_URL');
  const isBound = sessionId !== undefined && sessionId !== '' && url !== undefined && url !== '';
  return {
    sessionId: isBound ? sessionId : undefined,
    register: async ({ handle, suspension, conditions }) => {
      if (!isBound) return false;
      const body = {
        session_id: sessionId,
        handle,
        snapshot_ref: suspension.snapshot_path ?? null,
        reason: suspension.reason ?? null,
        conditions,
        deadline_at: suspension.deadline_at ?? null,
      };
      try {
        const response = await platform.http.request({
          method: 'POST',
          url,
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        });
        return response.status >= 200 && response.status < 300;
      } catch {
        // Unreachable is a decline like any other; the next owner is asked.
        return false;
      }
    },
  };
}
