/** The warm pool with real sandboxes. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { chown, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { WorkspaceSpec } from '#drivers/driver.ts';
import { detectSandbox } from '#drivers/sandbox/detect.ts';
import { type SandboxDriver, sandboxDriver } from '#drivers/sandbox/driver.ts';
import { silentLogger } from '#lib/log.ts';
import { askStandIn, STAND_IN_PATH } from '../support/guest-stand-in.ts';
import { isPidAlive } from '../support/pid.ts';
import { processesMentioning } from '../support/processes.ts';
import { requires } from '../support/requirements.ts';

const { signal } = new AbortController();
const WAIT = { timeout: 20_000, interval: 20 };
const SPEC: WorkspaceSpec = {
  id: 'first-agent',
  incarnation: 'first',
  hostname: 'first-host',
  resources: { vcpus: 1, memoryMiB: 128, diskGiB: 1 },
  team: 5,
  egress: false,
};
const SECOND = { ...SPEC, id: 'second-agent', hostname: 'second-host' };
const support = await detectSandbox();

function isEmptyGroup(path: string): boolean {
  return readFileSync(join(path, 'cgroup.procs'), 'utf8') === '';
}

requires(support.mode === 'root', `sandboxes as root: ${support.reason || 'the tests do not run as root'}`)('a pool of sandboxes', () => {
  let base: string;
  let stateDir: string;
  let driver: SandboxDriver;

  function open(): SandboxDriver {
    const bind = async (stream: Parameters<typeof askStandIn>[0], identity: object) => void (await askStandIn(stream, { bind: identity }));
    return sandboxDriver({
      stateDir,
      guestAgentPath: STAND_IN_PATH,
      log: silentLogger,
      support,
      pool: { size: 1, quietMs: 0, bind },
    });
  }

  const marks = () => processesMentioning(`agentiso-pool-${createHash('sha256').update(stateDir).digest('hex').slice(0, 8)}-`);
  const groups = () => {
    const name = `agentiso-${createHash('sha256').update(stateDir).digest('hex').slice(0, 8)}-*`;
    return spawnSync('find', ['/sys/fs/cgroup', '-type', 'd', '-name', name], { encoding: 'utf8' }).stdout.split('\n').filter(Boolean);
  };

  beforeEach(async () => {
    base = await mkdtemp(join(tmpdir(), 'agentiso-pool-test-'));
    stateDir = join(base, 'state');
    driver = open();
  });

  afterEach(async () => {
    await driver.closePool();
    for (const { id } of await driver.list(signal)) await deleteFully(id);
    expect(marks()).toEqual([]);
    expect(groups()).toEqual([]);
    expect(await readdir(stateDir)).toEqual([]);
    await rm(base, { recursive: true, force: true });
  });

  async function deleteFully(id: string): Promise<void> {
    await vi.waitFor(async () => {
      await driver.delete(id, signal);
      expect(await driver.get(id, signal)).toBeUndefined();
    }, WAIT);
  }

  async function ask(id: string, request: object) {
    return askStandIn(await vi.waitFor(() => driver.connect(id, 'control', signal), WAIT), request);
  }

  async function run(id: string, command: string): Promise<string> {
    const { exitCode, stdout, stderr } = await ask(id, { command });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    return stdout ?? '';
  }

  /** The member's sockets are there, and it has said so. */
  async function fillPool(spec: WorkspaceSpec): Promise<string> {
    await driver.create(spec, signal);
    await driver.poolSettled();
    const [folder = ''] = (await readdir(stateDir)).filter((name) => name.startsWith('.pool-'));
    await vi.waitFor(async () => expect(await readdir(join(stateDir, folder, 'run'))).toEqual(['control.sock', 'relay.sock']), WAIT);
    await ask(spec.id, {});
    return folder;
  }

  it('serves the next agent of the same kind, which cannot tell', async () => {
    await fillPool(SPEC);
    const waiting = marks();
    const state = await driver.create(SECOND, signal);
    expect(state).toMatchObject({ phase: 'running', incarnation: 'first' });
    expect(waiting).toContain(state.pid);
    expect(await ask(SECOND.id, {})).toMatchObject({ id: SECOND.id, incarnation: SECOND.incarnation });
    expect(await run(SECOND.id, 'hostname; cat /etc/hostname; id -un; pwd; ls')).toBe('second-host\nsecond-host\nagent\n/workspace\n');
    await run(SECOND.id, 'echo kept > file; echo kept > ~/file');
    expect(await readFile(join(stateDir, SECOND.id, 'workspace', 'file'), 'utf8')).toBe('kept\n');
    expect((await driver.usage(SECOND.id, signal))?.processes).toBeGreaterThanOrEqual(3);
    await vi.waitFor(async () => expect(await driver.stop(SECOND.id, signal)).toBe(true), WAIT);
    await driver.create({ ...SECOND, incarnation: 'second' }, signal);
    expect(await run(SECOND.id, 'cat file ~/file')).toBe('kept\nkept\n');
  });

  it('leaves no control groups of one that was killed and starts anew', async () => {
    await fillPool(SPEC);
    const { pid = 0 } = await driver.create(SECOND, signal);
    const itsOwn = groups().filter((path) => !path.includes(SPEC.id));
    process.kill(pid, 'SIGKILL');
    await vi.waitFor(async () => expect((await driver.get(SECOND.id, signal))?.phase).toBe('exited'), WAIT);
    await vi.waitFor(() => driver.create({ ...SECOND, incarnation: 'second' }, signal), WAIT);
    expect(await run(SECOND.id, 'hostname')).toBe('second-host\n');
    const left = groups();
    expect(itsOwn.length).toBeGreaterThan(0);
    expect(itsOwn.filter((path) => !path.includes(SECOND.id) && left.includes(path) && isEmptyGroup(path))).toEqual([]);
  });

  it('serves an agent with a base: the layer appears in the sandbox that runs already', async () => {
    const tree = join(base, 'tree');
    await mkdir(tree);
    await writeFile(join(tree, 'file'), 'base\n');
    for (const path of [tree, join(tree, 'file')]) await chown(path, 70_005, 70_005);
    await fillPool({ ...SPEC, base: tree });
    const waiting = marks();
    const { pid } = await driver.create({ ...SECOND, base: tree }, signal);
    expect(waiting).toContain(pid);
    await vi.waitFor(async () => expect(await run(SECOND.id, 'cd /workspace; cat file')).toBe('base\n'), WAIT);
    await run(SECOND.id, 'cd /workspace; echo mine >> file');
    expect(await readFile(join(tree, 'file'), 'utf8')).toBe('base\n');
    expect(await readFile(join(stateDir, SECOND.id, 'upper', 'file'), 'utf8')).toBe('base\nmine\n');
  });

  it('ends a member that cannot be given away, and the next try starts another', async () => {
    const folder = await fillPool(SPEC);
    // In the way of the record that comes with the folder.
    await mkdir(join(stateDir, folder, 'record.json.new'));
    await expect(driver.create(SECOND, signal)).rejects.toMatchObject({ code: 'EISDIR' });
    await driver.poolSettled();
    expect(await readdir(stateDir)).not.toContain(folder);
    expect(processesMentioning(folder.slice('.pool-'.length))).toEqual([]);
    expect(await driver.create(SECOND, signal)).toMatchObject({ incarnation: 'first' });
  });

  it('does not serve an agent that has files already, nor one of another team', async () => {
    const folder = await fillPool(SPEC);
    await vi.waitFor(async () => expect(await driver.stop(SPEC.id, signal)).toBe(true), WAIT);
    await driver.create({ ...SPEC, incarnation: 'second' }, signal);
    await driver.create({ ...SECOND, team: 6 }, signal);
    expect(await readdir(stateDir)).toContain(folder);
  });

  describe('of agents with networks', () => {
    const holders: ChildProcess[] = [];

    afterEach(() => {
      for (const holder of holders.splice(0)) holder.kill('SIGKILL');
    });

    /** A network namespace for as long as its holder lives. */
    const newNetwork = () => holdNetwork('unshare', '--net');
    const enterNetwork = (option: string) => holdNetwork('nsenter', option);
    async function holdNetwork(...command: readonly [string, string]): Promise<string> {
      const holder = spawn(command[0], [command[1], 'sleep', '600'], { stdio: 'ignore' });
      holders.push(holder);
      const path = `/proc/${holder.pid}/ns/net`;
      await vi.waitFor(() => expect(readlinkSync(path)).not.toBe(readlinkSync('/proc/self/ns/net')), WAIT);
      return path;
    }

    const networkOf = async (id: string) => (await run(id, 'readlink /proc/self/ns/net')).trim();

    const planOf = ({ id, resources, team, egress }: WorkspaceSpec) => ({ id, resources, team, egress, hasBase: false });

    it('is kept for the agent that asks before it has one, and serves no other', async () => {
      const [first, stranger] = [await newNetwork(), await newNetwork()];
      await fillPool({ ...SPEC, network: first });
      const waiting = marks();
      const other = await driver.create({ ...SPEC, id: 'third-agent', network: stranger }, signal);
      expect(waiting).not.toContain(other.pid);
      await driver.poolSettled();
      const kept = await driver.reserve?.(planOf(SECOND));
      expect(waiting).toContain(kept?.pid);
      expect(await driver.reserve?.(planOf(SECOND))).toEqual(kept);
      const network = `/proc/${kept?.pid}/ns/net`;
      expect([readlinkSync('/proc/self/ns/net'), readlinkSync(first), readlinkSync(stranger)]).not.toContain(readlinkSync(network));
      const links = spawnSync('nsenter', [`--net=${network}`, '--', 'ip', '-o', 'link'], { encoding: 'utf8' })
        .stdout.trim()
        .split('\n');
      expect(links).toEqual([expect.stringMatching(/ lo: .* state DOWN /)]);
      const served = await driver.create({ ...SECOND, network }, signal);
      expect(served.pid).toBe(kept?.pid);
      expect(await networkOf(SECOND.id)).toBe(readlinkSync(network));
      expect(await networkOf('third-agent')).toBe(readlinkSync(stranger));
    });

    it('does not serve one that has got another, and has ended before that starts', async () => {
      const [first, stranger] = [await newNetwork(), await newNetwork()];
      await fillPool({ ...SPEC, network: first });
      const kept = await driver.reserve?.(planOf(SECOND));
      const state = await driver.create({ ...SECOND, network: stranger }, signal);
      expect([isPidAlive(kept?.pid ?? 0), state.pid === kept?.pid]).toEqual([false, false]);
      expect(await networkOf(SECOND.id)).toBe(readlinkSync(stranger));
    });

    it('does not serve one that has files already, wherever they are from', async () => {
      const first = await newNetwork();
      await fillPool({ ...SPEC, network: first });
      await driver.snapshots?.take(SPEC.id, 'copy', signal);
      const kept = await driver.reserve?.(planOf(SECOND));
      await driver.snapshots?.restore(SECOND.id, 'copy', signal);
      await driver.snapshots?.remove('copy');
      await rm(join(stateDir, '.snapshots'), { recursive: true });
      expect(await driver.reserve?.(planOf(SECOND))).toBeUndefined();
      const network = await enterNetwork(`--net=/proc/${kept?.pid}/ns/net`);
      const state = await driver.create({ ...SECOND, network }, signal);
      expect([isPidAlive(kept?.pid ?? 0), state.pid === kept?.pid]).toEqual([false, false]);
      expect(await networkOf(SECOND.id)).toBe(readlinkSync(network));
    });
  });

  it('of an earlier daemon is ended by the next, and what it gave away is taken over', async () => {
    await fillPool(SPEC);
    const { pid } = await driver.create(SECOND, signal);
    await driver.poolSettled();
    const idle = marks();
    driver = open();
    await driver.closePool();
    expect(await driver.create(SECOND, signal)).toMatchObject({ phase: 'running', pid });
    await vi.waitFor(() => expect(marks().length).toBeLessThan(idle.length), WAIT);
    expect(isPidAlive(pid ?? 0)).toBe(true);
    expect(await ask(SECOND.id, {})).toMatchObject({ id: SECOND.id });
  });
});
