/** What only the sandbox driver does: limits, layers over a base, uids per team, prepared networks. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readlinkSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Driver, WorkspaceSpec } from '#drivers/driver.ts';
import { listProcesses, processTree } from '#drivers/local/processes.ts';
import { detectSandbox, type SandboxSupport } from '#drivers/sandbox/detect.ts';
import { sandboxDriver } from '#drivers/sandbox/driver.ts';
import { silentLogger } from '#lib/log.ts';
import { askStandIn, STAND_IN_PATH, type StandInAnswer } from '../support/guest-stand-in.ts';
import { isPidAlive } from '../support/pid.ts';
import { requires } from '../support/requirements.ts';

const { signal } = new AbortController();
const WAIT = { timeout: 20_000, interval: 20 };
const SPEC: WorkspaceSpec = {
  id: 'boxed',
  incarnation: 'first',
  hostname: 'boxed-host',
  resources: { vcpus: 1, memoryMiB: 128, diskGiB: 1 },
  team: 3,
  egress: false,
};
const support = await detectSandbox();

requires(support.mode === 'root', `sandboxes as root: ${support.reason || 'the tests do not run as root'}`)('sandboxes as root', () => {
  let base: string;
  let driver: Driver;

  const open = (changed: Partial<SandboxSupport> = {}): Driver =>
    sandboxDriver({ stateDir: join(base, 'state'), guestAgentPath: STAND_IN_PATH, log: silentLogger, support: { ...support, ...changed } });

  beforeEach(async () => {
    base = await mkdtemp(join(tmpdir(), 'agentiso-sandbox-'));
    driver = open();
  });

  afterEach(async () => {
    for (const { id } of await driver.list(signal)) {
      await vi.waitFor(async () => {
        await driver.delete(id, signal);
        expect(await driver.get(id, signal)).toBeUndefined();
      }, WAIT);
    }
    await rm(base, { recursive: true, force: true });
  });

  async function ask(request: object, id = SPEC.id): Promise<StandInAnswer> {
    const stream = await vi.waitFor(() => driver.connect(id, 'control', signal), WAIT);
    return askStandIn(stream, request);
  }

  async function run(command: string, id = SPEC.id): Promise<string> {
    const { stdout, stderr, exitCode } = await ask({ command }, id);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    return stdout ?? '';
  }

  describe('tools', () => {
    it('work as anywhere: git, node, temporary files, a home of its own that stays', async () => {
      await driver.create(SPEC, signal);
      await run(
        'git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m first && git log --oneline | grep -q first',
      );
      expect(await run("node -p \"new (require('worker_threads').Worker)('1', {eval: true}).threadId\"")).toBe('1\n');
      expect(await run('echo x > /tmp/a && cat /tmp/a && cd ~ && pwd && hostname && id -un')).toBe('x\n/home/agent\nboxed-host\nagent\n');
      await run('echo kept > ~/.settings');
      await vi.waitFor(async () => expect(await driver.stop(SPEC.id, signal)).toBe(true), WAIT);
      await driver.create({ ...SPEC, incarnation: 'second' }, signal);
      expect(await run('cat ~/.settings; ls /tmp')).toBe('kept\n');
    });

    it('are seen where the workspace is told, by all and never written to, though their parents are closed', async () => {
      const tools = join(base, 'closed', 'tools');
      await mkdir(tools, { recursive: true });
      await chmod(join(base, 'closed'), 0o700);
      await writeFile(join(tools, 'hello'), '#!/bin/sh\necho hello\n', { mode: 0o755 });
      await driver.create({ ...SPEC, tools }, signal);
      expect(await run('echo $AGENTISO_TOOLS; $AGENTISO_TOOLS/hello')).toBe('/opt/agentiso/tools\nhello\n');
      expect(await ask({ command: 'echo x > $AGENTISO_TOOLS/other' })).toMatchObject({
        stderr: expect.stringMatching(/Read-only file system/),
      });
      // What is installed later is there at once.
      await writeFile(join(tools, 'later'), 'there\n');
      expect(await run('cat $AGENTISO_TOOLS/later')).toBe('there\n');
    });

    it('find the proxy where there is one', async () => {
      await driver.create({ ...SPEC, egress: true }, signal);
      expect(await run('echo $HTTPS_PROXY $NO_PROXY')).toBe('http://127.0.0.1:3128 localhost,127.0.0.1\n');
      expect(await ask({})).toMatchObject({ options: { egress: true } });
    });

    it('may come from a Node that is not among the system programs', async () => {
      const { abilities } = support;
      if (abilities === undefined) throw new Error('the suite should have been skipped');
      const node = { bound: { source: process.execPath, target: '/opt/node/bin/node' }, path: '/opt/node/bin/node' };
      driver = open({ abilities: { ...abilities, node } });
      await driver.create(SPEC, signal);
      expect(await run('command -v node; node -p process.execPath')).toBe('/opt/node/bin/node\n/opt/node/bin/node\n');
    });
  });

  describe('teams', () => {
    it('have one uid each, and nothing but the launcher runs as root', async () => {
      await driver.create(SPEC, signal);
      await driver.create({ ...SPEC, id: 'other', team: 4 }, signal);
      for (const [id, uid] of [
        [SPEC.id, 70_003],
        ['other', 70_004],
      ] as const) {
        await run('echo mine > file', id);
        expect((await stat(join(base, 'state', id, 'workspace', 'file'))).uid).toBe(uid);
        const { pid = 0 } = (await driver.get(id, signal)) ?? {};
        const tree = processTree(pid, listProcesses());
        expect(tree.length).toBeGreaterThanOrEqual(4);
        for (const each of tree) {
          const status = await readFile(`/proc/${each.pid}/status`, 'utf8');
          expect(/^Uid:\s+(\d+)/m.exec(status)?.[1]).toBe(each.pid === pid ? '0' : String(uid));
        }
      }
    });

    it.each([-1, 65_536, 1.5])('have no number like %d', async (team) => {
      await expect(driver.create({ ...SPEC, team }, signal)).rejects.toMatchObject({ reason: 'InvalidTeamNumber' });
    });
  });

  describe('a base', () => {
    it('is never written to, and every agent has its own layer', async () => {
      const tree = join(base, 'odd, path:1');
      await mkdir(join(tree, 'sub'), { recursive: true });
      await writeFile(join(tree, 'sub', 'file'), 'base\n');
      await writeFile(join(tree, 'gone'), 'base\n');
      for (const path of ['', 'sub', 'sub/file', 'gone']) await chown(join(tree, path), 70_003, 70_003);
      await driver.create({ ...SPEC, base: tree }, signal);
      await driver.create({ ...SPEC, id: 'other', base: tree }, signal);
      expect(await run('echo mine >> sub/file; rm gone; cat sub/file; ls')).toBe('base\nmine\nsub\n');
      expect(await run('cat sub/file; ls', 'other')).toBe('base\ngone\nsub\n');
      expect(await readFile(join(tree, 'sub', 'file'), 'utf8')).toBe('base\n');
      expect((await readdir(join(base, 'state', SPEC.id, 'upper'))).sort()).toEqual(['gone', 'sub']);
      await vi.waitFor(async () => expect(await driver.stop(SPEC.id, signal)).toBe(true), WAIT);
      await expect(driver.create({ ...SPEC, incarnation: 'second' }, signal)).rejects.toMatchObject({ reason: 'BaseMissing' });
      await driver.create({ ...SPEC, incarnation: 'second', base: tree }, signal);
      expect(await run('cat sub/file; ls')).toBe('base\nmine\nsub\n');
      expect(await readFile('/proc/self/mountinfo', 'utf8')).not.toContain(base);
    });
  });

  describe('a prepared network', () => {
    let holder: ChildProcess;
    let namespace: string;

    beforeEach(async () => {
      holder = spawn(
        'unshare',
        ['--net', 'sh', '-c', 'ip link set lo up; ip link add eth0 type veth peer name eth1; echo ready; exec sleep 1000'],
        {
          stdio: ['ignore', 'pipe', 'inherit'],
        },
      );
      if (holder.stdout !== null) await once(holder.stdout, 'data');
      namespace = `/proc/${holder.pid}/ns/net`;
    });

    afterEach(async () => {
      const exited = once(holder, 'exit');
      holder.kill('SIGKILL');
      await exited;
    });

    it('is entered, and cannot be changed from inside', async () => {
      const expected = readlinkSync(namespace);
      await driver.create({ ...SPEC, network: namespace }, signal);
      expect(await run('readlink /proc/self/ns/net')).toBe(`${expected}\n`);
      expect(await run('ls /proc/sys/net/ipv4/conf')).toContain('eth0');
      const { stderr } = await ask({ command: 'ip link set eth0 up; ip addr add 10.1.1.1/32 dev eth0; ip route add default dev eth0' });
      expect(stderr?.match(/Operation not permitted/g)).toHaveLength(3);
    });
  });

  describe('the end', () => {
    it.each(['launcher', 'bubblewrap', 'first process'])('of the %s is the end of everything', async (which) => {
      const { pid = 0 } = await driver.create(SPEC, signal);
      await run('setsid sleep 1000 > /dev/null 2>&1 & :');
      const tree = processTree(pid, listProcesses());
      const victim = tree[['launcher', 'bubblewrap', 'first process'].indexOf(which)];
      expect(tree.length).toBeGreaterThanOrEqual(5);
      process.kill(victim?.pid ?? Number.NaN, 'SIGKILL');
      await vi.waitFor(() => expect(tree.map((each) => each.pid).filter(isPidAlive)).toEqual([]), WAIT);
      await vi.waitFor(async () => expect(await driver.get(SPEC.id, signal)).toMatchObject({ phase: 'exited' }), WAIT);
    });
  });

  describe('a limit of processes', () => {
    it('that was reached is named with the end of the guest', async () => {
      await driver.create(SPEC, signal);
      await ask({ command: 'i=0; while [ $i -lt 600 ]; do sleep 1000 > /dev/null 2>&1 & i=$((i+1)); done' });
      const { pid = 0 } = (await driver.get(SPEC.id, signal)) ?? {};
      process.kill(pid, 'SIGKILL');
      await vi.waitFor(async () => expect(await driver.get(SPEC.id, signal)).toMatchObject({ phase: 'exited' }), WAIT);
      expect((await driver.get(SPEC.id, signal))?.failure).toMatch(
        /^the guest ended by SIGKILL after its workspace had reached its limit of 512 processes \(pids\.max\)/,
      );
    });
  });

  describe('without control groups', () => {
    it('single processes are limited, and nothing else is claimed', async () => {
      const { places: _, ...without } = support;
      driver = sandboxDriver({
        stateDir: join(base, 'state'),
        guestAgentPath: STAND_IN_PATH,
        log: silentLogger,
        support: { ...without, limits: 'prlimit' },
      });
      expect(driver.isolation).toEqual({ driver: 'sandbox', network: 'nftables', limits: 'prlimit' });
      await driver.create(SPEC, signal);
      expect(await run('ulimit -n; ulimit -c')).toBe('4096\n0\n');
      expect((await driver.usage(SPEC.id, signal))?.processes).toBeGreaterThanOrEqual(4);
    });
  });
});

requires(support.places !== undefined, 'control groups that this user may make')('limits by control groups', () => {
  let base: string;
  let driver: Driver;

  beforeEach(async () => {
    base = await mkdtemp(join(tmpdir(), 'agentiso-limits-'));
    driver = sandboxDriver({ stateDir: base, guestAgentPath: STAND_IN_PATH, log: silentLogger, support });
    await driver.create({ ...SPEC, resources: { ...SPEC.resources, memoryMiB: 384 } }, signal);
  });

  afterEach(async () => {
    await vi.waitFor(async () => {
      await driver.delete(SPEC.id, signal);
      expect(await driver.get(SPEC.id, signal)).toBeUndefined();
    }, WAIT);
    await rm(base, { recursive: true, force: true });
  });

  async function ask(command: string): Promise<StandInAnswer> {
    const stream = await vi.waitFor(() => driver.connect(SPEC.id, 'control', signal), WAIT);
    return askStandIn(stream, { command });
  }

  it('are reported', () => {
    expect(driver.isolation.limits).toMatch(/^cgroup[12]$/);
  });

  it('end what takes too much memory, and leave the guest', async () => {
    const hog = 'node -e "const all = []; for (;;) all.push(Buffer.alloc(10_000_000, 1))"';
    const { stdout } = await ask(`${hog}; echo $?`);
    expect(stdout).toBe('137\n');
    expect(await ask('echo alive')).toMatchObject({ stdout: 'alive\n' });
  });

  it('count what is in /tmp as memory, which has a bound of its own', async () => {
    const { stderr } = await ask('head -c 250000000 /dev/zero > /tmp/big');
    expect(stderr).toMatch(/No space left/);
  });

  it('refuse more processes than there may be', async () => {
    const { stderr } = await ask('i=0; while [ $i -lt 600 ]; do sleep 60 > /dev/null 2>&1 & i=$((i+1)); done');
    expect(stderr).toMatch(/fork/i);
  });
});
