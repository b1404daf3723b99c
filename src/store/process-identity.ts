import type { Platform } from '../platform/platform.ts';

/** Names one process on one boot of one host, so that others can ask whether it is still there. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly host: string;
  readonly boot_id?: string | null | undefined;
}

export type Liveness = 'alive' | 'dead' | 'unknown';

type World = Pick<Platform, 'processes' | 'system'>;

export function ownIdentity({ processes, system }: World): Required<ProcessIdentity> {
  return { pid: processes.pid, host: system.hostname, boot_id: processes.bootId() ?? null };
}

/** Whether a process still exists; nothing can be said from here about one of another host. */
export function livenessOf({ processes, system }: World, { pid, host, boot_id }: ProcessIdentity): Liveness {
  if (host !== system.hostname) return 'unknown';
  const bootId = processes.bootId();
  const isOtherBoot = bootId !== undefined && boot_id !== null && boot_id !== undefined && boot_id !== bootId;
  return !isOtherBoot && processes.isAlive(pid) ? 'alive' : 'dead';
}
