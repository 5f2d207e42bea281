/** What a test does with a driver and the guest in its workspaces, step by step: a stand-in, or in machines, which have no sockets for one, the real agent. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, vi } from 'vitest';
import type { Driver, GuestPort, WorkspaceSpec, WorkspaceState } from '#drivers/driver.ts';
import { WaitingError } from '#lib/errors.ts';
import { askGuest } from './ask-guest.ts';
import { askStandIn, STAND_IN_PATH, type StandInAnswer } from './guest-stand-in.ts';
import { scriptCommand } from './script.ts';

export const SIGNAL = new AbortController().signal;
export const SPEC: WorkspaceSpec = {
  id: '0b6c7a52-7f0e-4c57-9d6a-1f4b1a3c5d7e',
  incarnation: 'first',
  hostname: 'agent-1',
  resources: { vcpus: 1, memoryMiB: 256, diskGiB: 1 },
  team: 1,
  egress: false,
};
/** A machine takes longer than a process, above all one that boots on a busy machine. */
export const WAIT = { timeout: 120_000, interval: 20 };

interface HostPlaces {
  readonly kind: string;
  readonly stateDir: string;
  readonly guestAgentPath?: string;
}

/** Starts a daemon of its own process, which makes these workspaces; gives ways to hear from it and to kill it. */
export function startHost({ kind, stateDir, guestAgentPath = STAND_IN_PATH }: HostPlaces, specs: readonly WorkspaceSpec[]) {
  const specsText = specs.map((spec) => JSON.stringify(spec));
  const [command, ...args] = scriptCommand('driver-host.ts', [kind, stateDir, guestAgentPath, ...specsText]);
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  let words = '';
  child.stdout.on('data', (chunk) => {
    words += String(chunk);
  });
  return {
    /** Of the last guest it has created. */
    pid: () => Number(/(?:.*\npid (\d+)\n)/s.exec(words)?.[1]),
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
  if (driver.name !== 'vm') return askStandIn(stream, request);
  const { incarnation = '' } = (await driver.get(id, SIGNAL)) ?? {};
  return askGuest(stream, { port, id, incarnation }, request);
}
