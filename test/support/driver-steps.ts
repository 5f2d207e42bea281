/** What a test does with a driver and the stand-in in its workspaces, step by step. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, vi } from 'vitest';
import type { Driver, GuestPort, WorkspaceSpec, WorkspaceState } from '#drivers/driver.ts';
import { WaitingError } from '#lib/errors.ts';
import { askStandIn, STAND_IN_PATH, type StandInAnswer } from './guest-stand-in.ts';

export const SIGNAL = new AbortController().signal;
export const SPEC: WorkspaceSpec = {
  id: '0b6c7a52-7f0e-4c57-9d6a-1f4b1a3c5d7e',
  incarnation: 'first',
  hostname: 'agent-1',
  resources: { vcpus: 1, memoryMiB: 256, diskGiB: 1 },
  team: 1,
  egress: false,
};
export const WAIT = { timeout: 20_000, interval: 20 };

const HOST = fileURLToPath(new URL('./driver-host.ts', import.meta.url));
/** Starts a daemon of its own process, which makes these workspaces; gives ways to hear from it and to kill it. */
export function startHost({ kind, stateDir }: { readonly kind: string; readonly stateDir: string }, specs: readonly WorkspaceSpec[]) {
  const args = ['--import', 'tsx', HOST, kind, stateDir, STAND_IN_PATH, ...specs.map((spec) => JSON.stringify(spec))];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  return {
    async kill(): Promise<void> {
      child.kill('SIGKILL');
      await exited;
    },
    said: (word: string) =>
      new Promise<void>((resolve, reject) => {
        child.stdout.on('data', (chunk) => String(chunk).split('\n').includes(word) && resolve());
        void exited.then(() => reject(new Error(`the daemon ended before it said ${word}`)));
      }),
  };
}

export function changes(driver: Driver): EventTarget {
  const target = new EventTarget();
  driver.onChange(() => target.dispatchEvent(new Event('change')));
  return target;
}

export async function stopFully(driver: Driver, id: string): Promise<void> {
  await vi.waitFor(async () => expect(await driver.stop(id, SIGNAL)).toBe(true), WAIT);
}

export async function deleteFully(driver: Driver, id: string): Promise<void> {
  await vi.waitFor(async () => {
    await driver.delete(id, SIGNAL);
    expect(await driver.get(id, SIGNAL)).toBeUndefined();
  }, WAIT);
}

export function createWhenPossible(driver: Driver, spec: WorkspaceSpec): Promise<WorkspaceState> {
  return vi.waitFor(() => driver.create(spec, SIGNAL), WAIT);
}

/** Only ever the process the driver itself named as this workspace. */
export async function killGuest(driver: Driver, { id, pid }: WorkspaceState): Promise<void> {
  if (pid === undefined) throw new Error('a workspace that was just created has a pid');
  process.kill(pid, 'SIGKILL');
  await vi.waitFor(async () => expect(await driver.get(id, SIGNAL)).toMatchObject({ phase: 'exited' }), WAIT);
}

export async function run(driver: Driver, command: string, id = SPEC.id): Promise<string> {
  const { exitCode, stdout, stderr } = await ask(driver, { command }, 'control', id);
  expect(stderr).toBe('');
  expect(exitCode).toBe(0);
  return stdout ?? '';
}

export async function ask(driver: Driver, request: object, port: GuestPort = 'control', id = SPEC.id): Promise<StandInAnswer> {
  const stream = await vi.waitFor(async () => {
    const attempt = driver.connect(id, port, SIGNAL);
    await attempt.catch((error: unknown) => expect(error).toBeInstanceOf(WaitingError));
    return attempt;
  }, WAIT);
  return askStandIn(stream, request);
}
