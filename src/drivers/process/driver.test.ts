import { readFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { silentLogger } from '#lib/log.ts';
import { askStandIn, STAND_IN_PATH } from '../../../test/support/guest-stand-in.ts';
import { isPidAlive } from '../../../test/support/pid.ts';
import type { Driver, WorkspaceSpec } from '../driver.ts';
import { workspacePaths } from '../local/paths.ts';
import { type ProcessDriverOptions, processDriver } from './driver.ts';

const { signal } = new AbortController();
const SPEC: WorkspaceSpec = {
  id: 'workspace-1',
  incarnation: 'first',
  hostname: 'agent-1',
  resources: { vcpus: 1, memoryMiB: 256, diskGiB: 1 },
  team: 1,
  egress: false,
};
const WAIT = { timeout: 15_000, interval: 20 };

let base: string;
let stateDir: string;
const opened: Driver[] = [];

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'agentiso-process-'));
  stateDir = join(base, 'state');
});

afterEach(async () => {
  for (const driver of opened.splice(0)) for (const { id } of await driver.list(signal)) await deleteFully(driver, id);
  await rm(base, { recursive: true, force: true });
});

function open(options: Partial<ProcessDriverOptions> = {}): Driver {
  const driver = processDriver({
    stateDir,
    guestAgentPath: STAND_IN_PATH,
    log: silentLogger,
    environment: (name) => process.env[name],
    ...options,
  });
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
  const command = 'sleep 1000 > /dev/null 2>&1 & echo $!';
  const { stdout } = await askStandIn(await driver.connect(SPEC.id, 'control', signal), { command });
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
    expect(driver.runDirectory(SPEC.id)).toBe(paths.run);
    for (const path of [stateDir, paths.directory, paths.workspace, paths.run, paths.state])
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

  it('passes on whether there will be a way to providers', async () => {
    const driver = open();
    await driver.create({ ...SPEC, egress: true }, signal);
    await reach(driver, 'running');
    expect(await askStandIn(await driver.connect(SPEC.id, 'relay', signal), {})).toMatchObject({ options: { providers: true } });
  });

  it('says where the tools are', async () => {
    const driver = open();
    const { pid } = await driver.create({ ...SPEC, tools: '/somewhere/tools' }, signal);
    expect(readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')).toContain('AGENTISO_TOOLS=/somewhere/tools');
  });

  it('shows the last words of a guest that failed', async () => {
    const driver = open({ guestAgentPath: await script('throw new Error("out of luck")') });
    await driver.create(SPEC, signal);
    await reach(driver, 'exited');
    const state = await driver.get(SPEC.id, signal);
    expect(state?.failure).toMatch(/exited with code 1[\s\S]*out of luck/);
    await expect(driver.connect(SPEC.id, 'control', signal)).rejects.toMatchObject({ reason: 'WorkspaceExited' });
  });

  it('waits for a guest that does not listen yet', async () => {
    const driver = open({ guestAgentPath: await script('setInterval(() => {}, 1000); process.stdout.write("soon")') });
    await driver.create(SPEC, signal);
    await expect(driver.connect(SPEC.id, 'control', signal)).rejects.toMatchObject({ reason: 'GuestNotListening' });
    expect(await driver.get(SPEC.id, signal)).toMatchObject({ phase: 'starting' });
  });

  it('kills a guest that does not heed SIGTERM, when its time is over', async () => {
    const path = await script('process.on("SIGTERM", () => {}); setInterval(() => {}, 1000); process.stdout.write("listening\\n")');
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

  it('ends what a killed guest left running when it is asked to, and keeps the account of its end', async () => {
    const driver = open();
    const pid = await abandonCommand(driver);
    const exited = await driver.get(SPEC.id, signal);
    await vi.waitFor(async () => expect(await driver.endLeftovers?.(SPEC.id, signal)).toBe(true), WAIT);
    expect(isPidAlive(pid)).toBe(false);
    expect(await driver.get(SPEC.id, signal)).toEqual(exited);
  });

  it('ends nothing as a leftover of a guest that lives', async () => {
    const driver = open();
    const { pid = 0 } = await driver.create(SPEC, signal);
    expect(await driver.endLeftovers?.(SPEC.id, signal)).toBe(false);
    expect(isPidAlive(pid)).toBe(true);
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

  it('finds the guest of a daemon that died before it wrote down which process it is', async () => {
    const { pid } = await open().create(SPEC, signal);
    const { record } = workspacePaths(SPEC.id, { stateDir, tempDir: tmpdir() });
    await writeFile(record, JSON.stringify({ id: SPEC.id, incarnation: SPEC.incarnation }));
    expect(await open().create(SPEC, signal)).toMatchObject({ pid, incarnation: SPEC.incarnation });
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
    const { run } = workspacePaths(SPEC.id, { stateDir, tempDir: tmpdir() });
    await mkdir(run);
    await chmod(run, 0o755);
    await expect(open().create(SPEC, signal)).rejects.toMatchObject({ reason: 'SocketDirectoryTaken' });
    await rm(run, { recursive: true });
  });

  it("gives the guest of the daemon's environment only what programs need to run", async () => {
    // A locale that is none makes Node crash at its start.
    const own: Record<string, string | undefined> = { PATH: process.env['PATH'], LANG: 'C', LC_ALL: 'C' };
    const driver = open({ environment: (name) => own[name] ?? 'not for guests' });
    const { pid } = await driver.create(SPEC, signal);
    await reach(driver, 'running');
    const names = readFileSync(`/proc/${pid}/environ`, 'utf8')
      .split('\0')
      .map((pair) => pair.split('=')[0]);
    expect(names.filter((name) => name !== '').sort()).toEqual(['HOME', 'LANG', 'LC_ALL', 'PATH', 'SHELL', 'TERM', 'TMPDIR']);
  });
});
