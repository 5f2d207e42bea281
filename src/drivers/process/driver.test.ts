import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { connectGuest } from '#guest/client.ts';
import { silentLogger } from '#lib/log.ts';
import { bundleGuest, type GuestBundle } from '../../../test/support/guest-bundle.ts';
import { isPidAlive } from '../../../test/support/running-guest.ts';
import type { Driver } from '../driver.ts';
import { type ProcessDriverOptions, processDriver } from './driver.ts';
import { workspacePaths } from './paths.ts';

const { signal } = new AbortController();
const SPEC = { id: 'workspace-1', incarnation: 'first', hostname: 'agent-1' };
const WAIT = { timeout: 15_000, interval: 20 };

let bundle: GuestBundle;
let base: string;
let stateDir: string;
const opened: Driver[] = [];

beforeAll(async () => {
  bundle = await bundleGuest();
});

afterAll(() => bundle?.remove());

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'agentiso-process-'));
  stateDir = join(base, 'state');
});

afterEach(async () => {
  for (const driver of opened.splice(0)) for (const { id } of await driver.list(signal)) await deleteFully(driver, id);
  await rm(base, { recursive: true, force: true });
});

function open(options: Partial<ProcessDriverOptions> = {}): Driver {
  const driver = processDriver({ stateDir, guestAgentPath: bundle.path, log: silentLogger, ...options });
  opened.push(driver);
  return driver;
}

async function deleteFully(driver: Driver, id: string): Promise<void> {
  await vi.waitFor(async () => {
    await driver.delete(id, signal);
    expect(await driver.get(id, signal)).toBeUndefined();
  }, WAIT);
}

function reach(driver: Driver, phase: string): Promise<void> {
  return vi.waitFor(async () => expect(await driver.get(SPEC.id, signal)).toMatchObject({ phase }), WAIT);
}

async function script(text: string): Promise<string> {
  const path = join(base, 'guest.cjs');
  await writeFile(path, text);
  return path;
}

/** Leaves a command running whose guest has been killed; gives the command's pid. */
async function abandonCommand(driver: Driver): Promise<number> {
  const { pid } = await driver.create(SPEC, signal);
  await reach(driver, 'running');
  const client = await connectGuest(await driver.connect(SPEC.id, signal), SPEC);
  client.call('exec', { command: 'echo $$ > pid.new; mv pid.new pid; exec sleep 1000', timeoutMs: 600_000 }).catch(() => {});
  const { stdout } = await client.call('exec', { command: 'while [ ! -e pid ]; do sleep 0.01; done; cat pid', timeoutMs: 30_000 });
  process.kill(pid ?? Number.NaN, 'SIGKILL');
  await reach(driver, 'exited');
  expect(isPidAlive(Number(stdout))).toBe(true);
  return Number(stdout);
}

describe('processDriver', () => {
  it('keeps its files to itself', async () => {
    const driver = open();
    await driver.create(SPEC, signal);
    const paths = workspacePaths(SPEC.id, { stateDir, tempDir: tmpdir() });
    for (const path of [stateDir, paths.directory, paths.workspace, paths.socketDirectory])
      expect((await stat(path)).mode & 0o777).toBe(0o700);
    for (const path of [paths.record, paths.log]) expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it('says when a workspace starts to listen', async () => {
    const driver = open();
    const changed = new Promise((resolve) => driver.onChange(resolve));
    expect(await driver.create(SPEC, signal)).toMatchObject({ phase: 'starting' });
    expect(await changed).toBe(SPEC.id);
    expect(await driver.get(SPEC.id, signal)).toMatchObject({ phase: 'running' });
  });

  it('shows the last words of a guest that failed', async () => {
    const driver = open({ guestAgentPath: await script('throw new Error("out of luck")') });
    await driver.create(SPEC, signal);
    await reach(driver, 'exited');
    const state = await driver.get(SPEC.id, signal);
    expect(state?.failure).toMatch(/exited with code 1[\s\S]*out of luck/);
    await expect(driver.connect(SPEC.id, signal)).rejects.toMatchObject({ reason: 'WorkspaceExited' });
  });

  it('waits for a guest that does not listen yet', async () => {
    const driver = open({ guestAgentPath: await script('process.stdin.resume()') });
    await driver.create(SPEC, signal);
    await expect(driver.connect(SPEC.id, signal)).rejects.toMatchObject({ reason: 'GuestNotListening' });
  });

  it('kills a guest that does not heed SIGTERM, when its time is over', async () => {
    const path = await script('process.on("SIGTERM", () => {}); setInterval(() => {}, 1000); process.stdout.write("deaf")');
    const driver = open({ guestAgentPath: path, stopGraceMs: 50 });
    const { pid } = await driver.create(SPEC, signal);
    await reach(driver, 'running');
    await deleteFully(driver, SPEC.id);
    expect(isPidAlive(pid ?? 0)).toBe(false);
  });

  it('ends what a killed guest left running before it removes the workspace', async () => {
    const driver = open();
    const pid = await abandonCommand(driver);
    await deleteFully(driver, SPEC.id);
    expect(isPidAlive(pid)).toBe(false);
  });

  it('ends what a killed guest left running before it starts the next incarnation', async () => {
    const driver = open();
    const pid = await abandonCommand(driver);
    const next = { ...SPEC, incarnation: 'second' };
    await vi.waitFor(() => driver.create(next, signal), WAIT);
    expect(isPidAlive(pid)).toBe(false);
    expect(await driver.get(SPEC.id, signal)).toMatchObject({ incarnation: 'second' });
  });

  it('does not start a second guest beside one of an earlier daemon', async () => {
    await open().create(SPEC, signal);
    await expect(open().create({ ...SPEC, incarnation: 'second' }, signal)).rejects.toMatchObject({ reason: 'PreviousGuestEnding' });
  });

  it('starts what a daemon died over before it could', async () => {
    await mkdir(join(stateDir, SPEC.id), { recursive: true });
    const driver = open();
    expect(await driver.get(SPEC.id, signal)).toMatchObject({ phase: 'exited', incarnation: '' });
    await driver.create(SPEC, signal);
    await reach(driver, 'running');
  });

  it('cannot tell what a broken record stands for', async () => {
    const driver = open();
    const directory = join(stateDir, SPEC.id);
    await mkdir(directory);
    await writeFile(join(directory, 'record.json'), '{');
    await expect(driver.get(SPEC.id, signal)).rejects.toMatchObject({ reason: 'RecordUnreadable' });
    await expect(driver.delete(SPEC.id, signal)).rejects.toMatchObject({ reason: 'RecordUnreadable' });
    await rm(directory, { recursive: true });
  });

  it('does not use a socket directory that others can enter', async () => {
    stateDir = join(base, 'deep'.repeat(25));
    const { socketDirectory } = workspacePaths(SPEC.id, { stateDir, tempDir: tmpdir() });
    await mkdir(socketDirectory);
    await chmod(socketDirectory, 0o755);
    await expect(open().create(SPEC, signal)).rejects.toMatchObject({ reason: 'SocketDirectoryTaken' });
  });
});

describe('a daemon that is killed', () => {
  it('takes its guests and all their processes along', async () => {
    const host = fileURLToPath(new URL('../../../test/support/driver-host.ts', import.meta.url));
    const child = spawn(process.execPath, ['--import', 'tsx', host, stateDir, bundle.path], { stdio: ['ignore', 'pipe', 'inherit'] });
    const exited = once(child, 'exit');
    const [line] = await Promise.race([once(child.stdout, 'data'), exited]);
    const pids = String(line).trim().split(' ').map(Number);
    expect(pids).toHaveLength(3);
    expect(pids.filter(isPidAlive)).toEqual(pids);
    child.kill('SIGKILL');
    await exited;
    await vi.waitFor(() => expect(pids.filter(isPidAlive)).toEqual([]), WAIT);
    expect(await open().list(signal)).toMatchObject([{ id: 'hosted', phase: 'exited' }]);
  });
});
