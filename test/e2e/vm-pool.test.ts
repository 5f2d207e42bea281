/** The warm pool with real machines. One boots, where there is no template yet; all others are copies, and some of them have waited. */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import type { MachineLink, WorkspaceSpec } from '#drivers/driver.ts';
import type { VmDriver } from '#drivers/vm/driver.ts';
import { guestAgentPath } from '../../src/guest-agent-path.ts';
import { SPEC as ANY, createWhenPossible, deleteFully, run, SIGNAL, startHost, stopFully, WAIT } from '../support/driver-steps.ts';
import { machinesHere, qemuOf } from '../support/machines.ts';
import { openDriver } from '../support/open-driver.ts';
import { isPidAlive } from '../support/pid.ts';
import { isProcessOf, processesMentioning } from '../support/processes.ts';
import { requires } from '../support/requirements.ts';

const here = await machinesHere();
const TEST_MS = 300_000;
const TOOLS = { tools: join(tmpdir(), `agentiso-vm-pool-tools-${process.pid}`), toolFolder: 'hello@1' };
const FIRST: WorkspaceSpec = { ...ANY, id: 'first', ...TOOLS };
const LINK: MachineLink = { address: '10.199.0.2', mac: '02:00:00:00:99:02', gateway: '10.199.0.1', gatewayMac: '02:00:00:00:99:01' };
/** That of the agent, and the one on the other end of its link. */
const [INNER, OUTER] = [`agentiso-vm-pool-${process.pid}-i`, `agentiso-vm-pool-${process.pid}-o`];
const KILL_ROUNDS = 1;
/** The longest that giving one away takes, or so. */
const KILL_WITHIN_MS = 150;

let stateDir: string;
let driver: VmDriver;

requires(here.support !== undefined, `virtual machines: ${here.reason}`)('a pool of machines', () => {
  beforeAll(async () => {
    stateDir = await mkdtemp(join(tmpdir(), 'agentiso-vm-pool-'));
    makeNamespaces();
    await reopen();
    await mkdir(join(TOOLS.tools, TOOLS.toolFolder), { recursive: true });
    await writeFile(join(TOOLS.tools, TOOLS.toolFolder, 'say'), '#!/bin/sh\necho hello\n', { mode: 0o755 });
    await createWhenPossible(driver, FIRST);
    await run(driver, 'true', FIRST.id);
    await driver.templatesSettled();
    await deleteFully(driver, FIRST.id);
    await driver.close();
  }, TEST_MS);

  afterEach(async () => {
    for (const { id } of await driver.list(SIGNAL)) await deleteFully(driver, id);
    await driver.close();
    expect([processesMentioning(stateDir), processesMentioning(mark()), groups(), joined()]).toEqual([[], [], [], []]);
    expect(readdirSync(stateDir).filter((name) => !['.templates', '.tools'].includes(name))).toEqual([]);
  }, TEST_MS);

  afterAll(async () => {
    for (const name of [INNER, OUTER]) if (existsSync(`/run/netns/${name}`)) execFileSync('ip', ['netns', 'del', name]);
    await rm(TOOLS.tools, { recursive: true, force: true });
    if (stateDir !== undefined) await rm(stateDir, { recursive: true, force: true });
  });

  it(
    'serves the next agent of the same kind, which has its own network, name, randomness and disk',
    async () => {
      await reopen();
      const cold = await driver.create(FIRST, SIGNAL);
      expect(cold.phase).toBe('starting');
      await driver.poolSettled();
      const [member = '', ...others] = members();
      expect([member, others, joined()]).toEqual([expect.any(String), [], []]);
      const one = { ...FIRST, id: 'one', hostname: 'host-one', network: `/run/netns/${INNER}`, link: LINK };
      const { phase, pid = 0 } = await driver.create(one, SIGNAL);
      expect([phase, isFromPool(pid), isFromPool(cold.pid ?? 0), members()]).toEqual(['running', true, false, []]);
      expect(joined()).toEqual(JOINED);
      expect(
        await run(driver, `echo kept > file; ${TO_GATEWAY}; cat /sys/class/net/eth0/address; $AGENTISO_TOOLS/hello@1/say`, one.id),
      ).toBe(`refused\n${LINK.mac}\nhello\n`);
      expect((await driver.usage(one.id, SIGNAL))?.memoryBytes).toBeGreaterThan(20_000_000);
      expect(await readFile(`/proc/${qemuOf(pid)}/status`, 'utf8')).toMatch(/^Uid:\t70001\t70001\t70001\t70001$/m);
      await driver.poolSettled();
      const two = { ...FIRST, id: 'two', hostname: 'host-two' };
      const second = await driver.create(two, SIGNAL);
      expect([second.phase, isFromPool(second.pid ?? 0)]).toEqual(['running', true]);
      const facts = [];
      for (const id of ['first', 'one', 'two']) facts.push((await run(driver, FACTS, id)).trim().split('\n'));
      expect(facts.map(([hostname, year]) => [hostname, year])).toEqual(
        [FIRST, one, two].map(({ hostname }) => [hostname, String(new Date().getFullYear())]),
      );
      for (const fact of [2, 3, 4]) expect(new Set(facts.map((each) => each[fact])).size, FACTS).toBe(facts.length);
      // As the same machine when it is suspended, by the files of its folder when it ends.
      await run(driver, 'echo remembered > /tmp/memory', one.id);
      await driver.suspension?.suspend(one.id, SIGNAL);
      expect([isPidAlive(pid), joined()]).toEqual([false, []]);
      await driver.suspension?.resume(one.id, SIGNAL, one);
      expect(await run(driver, `cat /tmp/memory file; ${TO_GATEWAY}`, one.id)).toBe('remembered\nkept\nrefused\n');
      await stopFully(driver, one.id);
      expect(joined()).toEqual([]);
      await createWhenPossible(driver, { ...one, incarnation: 'second' });
      expect(await run(driver, 'cat file', one.id)).toBe('kept\n');
    },
    TEST_MS,
  );

  it(
    'serves no agent of another kind, and makes disks of a base ahead for those that begin with it',
    async () => {
      const base = await mkdtemp(join(tmpdir(), 'agentiso-vm-pool-base-'));
      await writeFile(join(base, 'file'), 'base\n');
      await reopen();
      await driver.create(FIRST, SIGNAL);
      await driver.poolSettled();
      const waiting = members();
      const cold = await driver.create({ ...FIRST, id: 'based', base }, SIGNAL);
      expect([isFromPool(cold.pid ?? 0), members()]).toEqual([false, waiting]);
      await driver.poolSettled();
      expect(members()).toHaveLength(2);
      const warm = await driver.create({ ...FIRST, id: 'warm', base }, SIGNAL);
      expect([warm.phase, isFromPool(warm.pid ?? 0), members()]).toEqual(['running', true, waiting]);
      expect(await run(driver, 'cat file; echo more >> file', 'warm')).toBe('base\n');
      expect(await readFile(join(base, 'file'), 'utf8')).toBe('base\n');
      // What waits ends with its driver; what is somebody's goes on.
      await driver.close();
      expect([members(), isPidAlive(warm.pid ?? 0)]).toEqual([[], true]);
      await reopen();
      await rm(base, { recursive: true });
      expect(await run(driver, 'cat file', 'warm')).toBe('base\nmore\n');
    },
    TEST_MS,
  );

  it(
    'ends with a daemon that is killed, without another one',
    async () => {
      const daemon = startHost({ kind: 'vm-pool', stateDir, guestAgentPath: guestAgentPath() }, [FIRST]);
      await daemon.said('running');
      expect([members().length, processesMentioning(mark()).length > 0]).toEqual([1, true]);
      await daemon.kill();
      await vi.waitFor(() => expect(processesMentioning(mark())).toEqual([]), WAIT);
      await reopen();
      expect(await run(driver, 'echo alive', FIRST.id)).toBe('alive\n');
    },
    TEST_MS,
  );

  it(
    'leaves nothing that is not found when its daemon is killed while it gives one away',
    async () => {
      const seed = Date.now() % 100_000;
      for (let round = 0; round < KILL_ROUNDS; round++) {
        const cold = { ...FIRST, id: `cold-${round}` };
        const given = { ...FIRST, id: `given-${round}`, network: `/run/netns/${INNER}`, link: LINK };
        const daemon = startHost({ kind: 'vm-pool', stateDir, guestAgentPath: guestAgentPath() }, [cold, given]);
        await daemon.said('created');
        await daemon.said('creating');
        const afterMs = ((seed + round * 7919) % 100) * (KILL_WITHIN_MS / 100);
        // The moment of the kill is what is tested: nothing else is waited for.
        await new Promise((resolve) => setTimeout(resolve, afterMs));
        await daemon.kill();
        await reopen();
        await createWhenPossible(driver, given);
        await vi.waitFor(async () => expect((await driver.get(given.id, SIGNAL))?.phase).not.toBe('starting'), WAIT);
        const { phase } = (await driver.get(given.id, SIGNAL)) ?? {};
        if (phase === 'exited') await createWhenPossible(driver, { ...given, incarnation: 'second' });
        expect(await run(driver, TO_GATEWAY, given.id), `seed ${seed}, round ${round}, killed after ${afterMs} ms`).toBe('refused\n');
        expect(await run(driver, 'echo alive', cold.id)).toBe('alive\n');
        for (const { id } of [cold, given]) await deleteFully(driver, id);
        await driver.close();
        expect([joined(), members(), processesMentioning(mark()), groups()], `seed ${seed}, round ${round}`).toEqual([[], [], [], []]);
      }
      await reopen();
    },
    TEST_MS,
  );
});

const JOINED = ['tap0', 'qdisc ingress'];
/** Nobody listens there, and says so. */
const TO_GATEWAY = `bash -c ': > /dev/tcp/${LINK.gateway}/8080' 2>&1 | grep -m1 -o refused`;
const FACTS =
  'hostname; date +%Y; cat /proc/sys/kernel/random/uuid /proc/sys/kernel/random/boot_id; node -p \'crypto.randomBytes(16).toString("hex")\'';

async function reopen(): Promise<void> {
  driver = (await openDriver('vm-pool', { stateDir, guestAgentPath: guestAgentPath() })) as VmDriver;
}

/** Folders of what waits. */
function members(): string[] {
  return readdirSync(stateDir).filter((name) => name.startsWith('.pool-'));
}

function home(): string {
  return createHash('sha256').update(stateDir).digest('hex').slice(0, 8);
}

/** How the word begins by which those that have waited are known. */
function mark(): string {
  return `agentiso-vm-pool-${home()}-`;
}

function isFromPool(pid: number): boolean {
  return isProcessOf(pid, mark());
}

function groups(): string[] {
  const found = spawnSync('find', ['/sys/fs/cgroup', '-type', 'd', '-name', `agentiso-${home()}-*`], { encoding: 'utf8' });
  return found.stdout.split('\n').filter(Boolean);
}

/** A link as an agent has it, with the gateway on its other end. */
function makeNamespaces(): void {
  const ip = (...words: string[]) => execFileSync('ip', words);
  for (const name of [INNER, OUTER]) ip('netns', 'add', name);
  ip('-n', INNER, 'link', 'add', 'eth0', 'type', 'veth', 'peer', 'name', 'gate', 'netns', OUTER);
  ip('-n', INNER, 'link', 'set', 'eth0', 'up');
  ip('-n', OUTER, 'link', 'set', 'gate', 'address', LINK.gatewayMac, 'up');
  ip('-n', OUTER, 'address', 'add', `${LINK.gateway}/32`, 'dev', 'gate');
  ip('-n', OUTER, 'route', 'add', `${LINK.address}/32`, 'dev', 'gate');
  ip('-n', OUTER, 'neigh', 'add', LINK.address, 'lladdr', LINK.mac, 'dev', 'gate', 'nud', 'permanent');
}

/** What a machine has made in the agent's namespace. */
function joined(): string[] {
  const show = 'ip -o link; tc qdisc show dev eth0';
  const seen = execFileSync('ip', ['netns', 'exec', INNER, 'sh', '-c', show], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  return JOINED.filter((word) => seen.includes(word));
}
