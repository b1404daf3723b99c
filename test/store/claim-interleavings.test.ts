import { describe, expect, it } from 'vitest';
import { renderInstant } from '../../src/base/instant.ts';
import { FakeFiles } from '../../src/platform/fake-files.ts';
import { FaultyFiles, KilledHere } from '../../src/platform/fault-points.ts';
import type { Clock, Files, Processes } from '../../src/platform/platform.ts';
import {
  acquireClaim,
  type Claim,
  type ClaimAttempt,
  type ClaimWorld,
  LEASE_MS,
  readClaim,
  sweepAbandonedClaims,
} from '../../src/store/claim-file.ts';
import { testPlatform } from './test-platform.ts';

/**
 * Contenders for the claim of a dead owner, one stopped before each of its file calls while others run, die or wake
 * up: whatever comes between, one of them owns the claim, and it can always be owned again.
 */
const DIRECTORY = '/project';
const PATH = `${DIRECTORY}/w.json.claim`;
const NOW = Date.UTC(2026, 3, 30);
const facts = { suspensionId: 'susp_x', generation: 2 };
/** More than the calls of any contender. */
const ENOUGH = 40;

interface Machine {
  readonly disk: FakeFiles;
  readonly dead: Set<number>;
  now: number;
}

function machineWith(owner: 'dead' | 'unreadable' | 'none'): Machine {
  const machine: Machine = { disk: new FakeFiles({ now: () => NOW - 2 * LEASE_MS }), dead: new Set([1]), now: NOW };
  if (owner === 'unreadable') machine.disk.write(PATH, 'what is this?');
  if (owner === 'dead') {
    const claim = { token: 'of-the-dead', pid: 1, host: testPlatform().system.hostname, boot_id: 'boot', generation: 1 };
    machine.disk.write(PATH, JSON.stringify({ ...claim, claimed_at: renderInstant(NOW), heartbeat_at: renderInstant(NOW) }));
  }
  return machine;
}

function process(machine: Machine, pid: number, files: Files = machine.disk): ClaimWorld {
  return {
    ...testPlatform(),
    files,
    processes: { pid, bootId: () => 'boot', isAlive: (other: number) => !machine.dead.has(other) } as unknown as Processes,
    realClock: { now: () => machine.now, timer: () => () => undefined } as unknown as Clock,
  };
}

/** Files whose call number `at`, reads included, waits for something else to happen first. */
function interruptedAt(files: Files, at: number, happens: () => void): Files {
  let calls = 0;
  return new Proxy(files, {
    get(target, name: keyof Files) {
      const call = target[name] as (...args: unknown[]) => unknown;
      return (...args: unknown[]) => {
        if (calls++ === at) happens();
        return call.apply(target, args);
      };
    },
  });
}

/** The one that owns the claim at the end; all others know that they do not. */
function expectOneOwner(machine: Machine, attempts: readonly (ClaimAttempt | undefined)[], label: string): Claim {
  const claims = attempts.flatMap((attempt) => (attempt?.kind === 'won' ? [attempt.claim] : []));
  expect(claims.length, label).toBe(1);
  const [claim] = claims as [Claim];
  expect(readClaim(machine.disk, PATH)?.token, label).toBe(claim.token);
  return claim;
}

function expectNothingLeft(machine: Machine, claim: Claim, label: string): void {
  sweepAbandonedClaims(process(machine, 9), PATH);
  claim.release();
  expect(machine.disk.list(DIRECTORY), label).toEqual([]);
}

describe('R16 T04 a claim that several processes take over', () => {
  it.each(['dead', 'unreadable', 'none'] as const)('has one owner whenever two others come between (before: %s)', (owner) => {
    for (let first = 0; first < ENOUGH; first++) {
      for (let second = 0; second < ENOUGH; second++) {
        const machine = machineWith(owner);
        const attempts: ClaimAttempt[] = [];
        const third = (): void => void attempts.push(acquireClaim(process(machine, 4), PATH, facts));
        const run = (): void =>
          void attempts.push(acquireClaim(process(machine, 3, interruptedAt(machine.disk, second, third)), PATH, facts));
        attempts.push(acquireClaim(process(machine, 2, interruptedAt(machine.disk, first, run)), PATH, facts));
        const label = `${first} ${second}`;
        expectNothingLeft(machine, expectOneOwner(machine, attempts, label), label);
      }
    }
  });

  it.each(['dead', 'unreadable'] as const)('has one owner when two others come at two places of one (before: %s)', (owner) => {
    for (let first = 0; first < ENOUGH; first++) {
      for (let second = first; second < ENOUGH; second++) {
        const machine = machineWith(owner);
        const attempts: ClaimAttempt[] = [];
        const come = (pid: number) => (): void => void attempts.push(acquireClaim(process(machine, pid), PATH, facts));
        const files = interruptedAt(interruptedAt(machine.disk, second, come(4)), first, come(3));
        attempts.push(acquireClaim(process(machine, 2, files), PATH, facts));
        const label = `${first} ${second}`;
        expectNothingLeft(machine, expectOneOwner(machine, attempts, label), label);
      }
    }
  });

  it.each(['dead', 'unreadable'] as const)('has one owner when one comes and goes and another follows (before: %s)', (owner) => {
    for (let at = 0; at < ENOUGH; at++) {
      for (const isReleased of [true, false]) {
        const machine = machineWith(owner);
        const later: ClaimAttempt[] = [];
        const come = (): void => {
          const attempt = acquireClaim(process(machine, 3), PATH, facts);
          if (!isReleased || attempt.kind === 'held') later.push(attempt);
          else attempt.claim.release();
          later.push(acquireClaim(process(machine, 4), PATH, facts));
        };
        const attempts = [acquireClaim(process(machine, 2, interruptedAt(machine.disk, at, come)), PATH, facts), ...later];
        expectNothingLeft(machine, expectOneOwner(machine, attempts, `${at}`), `${at}`);
      }
    }
  });

  it.each(['killBefore', 'tear', 'killAfter'] as const)(
    'can be taken over again after deaths at any call, one upon the other (%s)',
    (how) => {
      for (let first = 0; first < ENOUGH; first++) {
        for (let second = 0; second < ENOUGH; second++) {
          const machine = machineWith('dead');
          const mortal = (pid: number, at: number): boolean => {
            const files = new FaultyFiles(machine.disk, { at, how }, () => machine.dead.add(pid));
            try {
              const attempt = acquireClaim(process(machine, pid, files), PATH, facts);
              if (attempt.kind === 'won') attempt.claim.release();
              return false;
            } catch (error) {
              if (!(error instanceof KilledHere)) throw error;
              return true;
            }
          };
          const died = mortal(2, first);
          const diedToo = mortal(3, second);
          const label = `${first} ${second}`;
          expectNothingLeft(machine, expectOneOwner(machine, [acquireClaim(process(machine, 4), PATH, facts)], label), label);
          if (!diedToo) break;
          if (!died) return;
        }
      }
    },
  );

  it('T05 an owner that wakes up after its lease and gives its claim back takes nobody else’s away', () => {
    for (let at = 0; at < ENOUGH; at++) {
      for (const sleeper of ['before', 'inside'] as const) {
        const machine = machineWith('none');
        const attempts: ClaimAttempt[] = [];
        const owned = (files: Files): Claim => {
          const attempt = acquireClaim(process(machine, 5, files), PATH, facts);
          if (attempt.kind !== 'won') throw new Error('nobody else was there');
          machine.now += LEASE_MS + 1;
          return attempt.claim;
        };
        const contend = (pid: number, files: Files = machine.disk): void =>
          void attempts.push(acquireClaim(process(machine, pid, files), PATH, facts));
        if (sleeper === 'inside') {
          const owner = owned(machine.disk);
          contend(
            2,
            interruptedAt(machine.disk, at, () => {
              owner.release();
              contend(3);
            }),
          );
        } else {
          // The calls of its start come first, and then those of the release.
          let isAsleep = false;
          const files = interruptedAt(machine.disk, at, () => isAsleep && contend(2));
          const owner = owned(files);
          isAsleep = true;
          owner.release();
          contend(3);
        }
        expectOneOwner(machine, attempts, `${sleeper} ${at}`);
      }
    }
  });

  it('a right that is a copy of the claim, left by something else, keeps nobody out', () => {
    const machine = machineWith('dead');
    machine.disk.copy(PATH, `${PATH}.stale.of-the-dead`);
    const claim = expectOneOwner(machine, [acquireClaim(process(machine, 2), PATH, facts)], '');
    expectNothingLeft(machine, claim, '');
  });
});
