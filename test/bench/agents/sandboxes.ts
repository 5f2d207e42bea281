/** The sandbox driver with the real guest agent, as the daemon has it: workspaces are started until their guest answers, and removed. */
import { EventEmitter, once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { WorkspaceSpec } from '#drivers/driver.ts';
import { detectSandbox, type SandboxSupport } from '#drivers/sandbox/detect.ts';
import { type SandboxDriver, sandboxDriver } from '#drivers/sandbox/driver.ts';
import type { SandboxAbilities } from '#drivers/sandbox/sandbox.ts';
import { bindGuest, connectGuest, type GuestClient } from '#guest/client.ts';
import { newUid } from '#lib/clock.ts';
import { WaitingError } from '#lib/errors.ts';
import { silentLogger } from '#lib/log.ts';
import { bundleGuest } from '../../support/guest-bundle.ts';
import { type BenchContext, BenchError, MissingToolError } from '../harness/operation.ts';

const START_TIMEOUT_MS = 60_000;
const REMOVE_LOOK_MS = 20;
/** In the daemon it is longer: what is started ahead does not compete with what is measured. */
const POOL_QUIET_MS = 200;
const { signal } = new AbortController();

export interface Machine extends SandboxSupport {
  readonly abilities: SandboxAbilities;
}

/** What the sandboxes of this machine can do. `needsRoot` names what is measured, for whoever is told that it cannot be. */
export async function detectMachine({ dir }: BenchContext, needsRoot?: string): Promise<Machine> {
  const support = await detectSandbox(dir);
  const { abilities, mode, reason } = support;
  if (abilities === undefined) throw new MissingToolError(`the benchmarks of agents need sandboxes: ${reason}`);
  if (needsRoot !== undefined && mode !== 'root') throw new MissingToolError(`${needsRoot} can be measured by root only`);
  return { ...support, abilities };
}

export interface Created {
  /** It had been started before it was asked for. */
  readonly isFromPool: boolean;
  /** Resolves when the guest has answered the first call on its control connection. */
  answered(): Promise<GuestClient>;
}

export interface Sandboxes {
  readonly driver: SandboxDriver;
  create(spec: WorkspaceSpec): Promise<Created>;
  remove(ids: readonly string[]): Promise<void>;
  /** Resolves when no sandbox is being started ahead. */
  poolSettled(): Promise<void>;
}

/** Closed with the operation: nothing that was started goes on. */
export async function openSandboxes({ dir, own }: BenchContext, support: Machine, { poolSize = 0 } = {}): Promise<Sandboxes> {
  const bundle = await bundleGuest();
  own({ close: () => bundle.remove() });
  const options = { stateDir: join(dir, 'sandboxes'), guestAgentPath: bundle.path, log: silentLogger, support };
  const driver = sandboxDriver(
    poolSize === 0 ? options : { ...options, pool: { size: poolSize, quietMs: POOL_QUIET_MS, bind: bindGuest } },
  );
  own({
    async close() {
      await driver.closePool();
      await removeAll(
        driver,
        (await driver.list(signal)).map(({ id }) => id),
      );
    },
  });
  return {
    driver,
    create: (spec) => create(driver, spec),
    remove: (ids) => removeAll(driver, ids),
    async poolSettled() {
      // A pool keeps no process alive.
      const waiting = setInterval(() => {}, START_TIMEOUT_MS);
      await driver.poolSettled();
      clearInterval(waiting);
    },
  };
}

/** A new workspace of team 1 that no other resembles. */
export function newSpec(differences: Partial<WorkspaceSpec> = {}): WorkspaceSpec {
  return {
    id: newUid(),
    incarnation: newUid(),
    hostname: 'bench',
    resources: { vcpus: 2, memoryMiB: 512, diskGiB: 1 },
    team: 1,
    egress: false,
    ...differences,
  };
}

async function create(driver: SandboxDriver, spec: WorkspaceSpec): Promise<Created> {
  const changes = watchChanges(driver, spec.id);
  const { phase } = await driver.create(spec, signal);
  return {
    isFromPool: phase === 'running',
    async answered() {
      for (;;) {
        const stream = await driver.connect(spec.id, 'control', signal).catch(undefinedWhileWaiting);
        if (stream === undefined) await changes.next();
        else {
          changes.end();
          return connectGuest(stream, spec);
        }
      }
    },
  };
}

function undefinedWhileWaiting(error: unknown): undefined {
  if (!(error instanceof WaitingError)) throw error;
}

interface Changes {
  /** Resolves when there was a change that nobody has waited for. */
  next(): Promise<void>;
  end(): void;
}

/** The driver keeps no process alive: while somebody waits for a guest, the timer does. */
function watchChanges(driver: SandboxDriver, id: string): Changes {
  const changes = new EventEmitter();
  let unseen = 0;
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(new BenchError('a guest did not answer in time')), START_TIMEOUT_MS);
  const unsubscribe = driver.onChange((changed) => {
    if (changed !== id) return;
    unseen += 1;
    changes.emit('change');
  });
  return {
    async next() {
      if (unseen === 0) await once(changes, 'change', { signal: timeout.signal });
      unseen = 0;
    },
    end() {
      clearTimeout(timer);
      unsubscribe();
    },
  };
}

async function removeAll(driver: SandboxDriver, ids: readonly string[]): Promise<void> {
  await Promise.all(ids.map((id) => removeOne(driver, id)));
}

async function removeOne(driver: SandboxDriver, id: string): Promise<void> {
  for (;;) {
    await driver.delete(id, signal);
    if ((await driver.get(id, signal)) === undefined) return;
    await delay(REMOVE_LOOK_MS);
  }
}
