/** A scratch workspace: like an agent's, but new, with no network of its own, and gone when it is no longer needed. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Agent } from '#api/types.ts';
import type { Driver, WorkspaceState } from '#drivers/driver.ts';
import { connectGuest, type GuestClient } from '#guest/client.ts';
import { newUid } from '#lib/clock.ts';
import { UnavailableError, WaitingError } from '#lib/errors.ts';
import type { Logger } from '#lib/log.ts';
import { timeLimit } from '#lib/time-limit.ts';

const START_MS = 60_000;
/** It may have to boot on an emulated processor, after others. */
const MACHINE_START_MS = 300_000;
const POLL_MS = 25;
/** After an attempt to remove it that failed. */
const RETRY_MS = 1_000;

export interface ScratchPlan {
  readonly id: string;
  readonly driver: Driver;
  /** The number of the agent's team: the scratch runs as the same user. */
  readonly team: number;
  /** Whose means it gets. */
  readonly agent: { readonly spec: Pick<Agent['spec'], 'resources'> };
  /** What it is called inside; absent: `verify`. */
  readonly hostname?: string;
  /** A tree it begins as a copy of. */
  readonly base?: string;
  /** What a virtual machine is started from. */
  readonly image?: string;
  /** Whether the egress proxy will listen for it. */
  readonly egress?: boolean;
}

/** Connected to the guest inside. Whatever happens, the caller removes the workspace. */
export function openScratch(plan: ScratchPlan, signal: AbortSignal): Promise<GuestClient> {
  return openWorkspace({ hostname: 'verify', ...plan, incarnation: newUid() }, signal);
}

export interface WorkspacePlan extends ScratchPlan {
  readonly incarnation: string;
  readonly hostname: string;
}

/** One that is there already is started again under the new incarnation. */
export async function openWorkspace(plan: WorkspacePlan, signal: AbortSignal): Promise<GuestClient> {
  const { id, incarnation, hostname, driver, team, agent, base, image, egress = false } = plan;
  const limited = AbortSignal.any([signal, timeLimit(driver.name === 'vm' ? MACHINE_START_MS : START_MS)]);
  const { vcpus = 2, memoryMiB = 512, diskGiB = 10 } = agent.spec.resources ?? {};
  const resources = { vcpus, memoryMiB, diskGiB };
  const given = { ...(base !== undefined && { base }), ...(image !== undefined && { image }) };
  const spec = { id, incarnation, hostname, resources, team, egress, ...given };
  await patiently(() => driver.create(spec, limited), limited);
  for (;;) {
    checkAlive(await driver.get(id, limited));
    const stream = await unlessWaiting(driver.connect(id, 'control', limited));
    if (stream !== undefined) return connectGuest(stream, { id, incarnation, signal: limited });
    await delay(POLL_MS, undefined, { signal: limited });
  }
}

/** Resolves when nothing is left of it. Aborted, it rejects, and the record of the workspace must stay. */
export async function removeScratch(
  id: string,
  driver: Driver,
  { log, signal }: { readonly log: Logger; readonly signal: AbortSignal },
): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    try {
      await driver.delete(id, signal);
      if ((await driver.get(id, signal)) === undefined) return;
      await delay(POLL_MS, undefined, { signal });
    } catch (error) {
      if (signal.aborted) throw error;
      log.warn({ err: error, workspaceId: id }, 'a scratch workspace was not removed; trying again');
      await delay(RETRY_MS, undefined, { signal });
    }
  }
}

function checkAlive(state: WorkspaceState | undefined): void {
  if (state !== undefined && state.phase !== 'exited') return;
  throw new UnavailableError(`the scratch workspace ended: ${state?.failure ?? 'it is gone'}`, { reason: 'ScratchEnded' });
}

/** What is not its turn yet is tried again. */
export async function patiently<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof WaitingError)) throw error;
      await delay(Math.min(error.afterMs, RETRY_MS), undefined, { signal });
    }
  }
}

async function unlessWaiting<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof WaitingError) return undefined;
    throw error;
  }
}
