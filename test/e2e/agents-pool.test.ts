/** Agents from the warm pool, with links of their own: to the network they are as any other, and so they are to a daemon that is killed. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { Agent } from '#api/types.ts';
import { AgentsHome, WAIT, withSandboxes } from '../support/agents-home.ts';
import { requestsFrom } from '../support/agents-requests.ts';
import { membersIn, poolHas } from '../support/pool-members.ts';
import { isProcessOf, processesMentioning } from '../support/processes.ts';

const HOOK = join(import.meta.dirname, '..', 'support', 'die-at-hand-over.cjs');
const STEPS = ['naming', 'named', 'renaming', 'renamed', 'binding', 'recording', 'recorded'];
/** By the rules, which answer with a reset. */
const REFUSED = 'ECONNREFUSED';

const teamOf = (...roles: readonly string[]) => ({
  isolation: { driver: 'sandbox' },
  network: { allowInterAgent: true, allowedPorts: [8080] },
  roles: roles.map((name) => ({ name })),
});

/** What it was started as stays with its process: the mark of the pool, and not the agent's uid. */
function isFromPool({ metadata: { uid }, status: { pid = 0 } = {} }: Agent): boolean {
  return isProcessOf(pid, 'agentiso-pool-') && !isProcessOf(pid, uid);
}

/** Its network, by the name it has on this machine. */
function networkOf(home: AgentsHome, { status }: Agent): string {
  const name = home.machineState().namespaces.find((each) => each.endsWith(`-${status?.ip?.split('.').at(-1)}`));
  return `/run/netns/${name}`;
}

function inNetwork(network: string, ...command: readonly string[]): string {
  const { stdout, stderr, status } = spawnSync('nsenter', [`--net=${network}`, '--', ...command], { encoding: 'utf8' });
  expect([status, stderr], command.join(' ')).toEqual([0, '']);
  return stdout;
}

withSandboxes('an agent from the pool', () => {
  const home = new AgentsHome();
  let [one, two, stranger] = [] as unknown as [Agent, Agent, Agent];
  beforeAll(async () => {
    await home.start(['--log-level', 'info']);
    await home.create('Team', 'other', teamOf('one'));
    await home.create('Team', 'try', teamOf('one'));
    await home.ready(['other-one', 'try-one']);
    await poolHas(home, 4);
    await home.change('teams', 'try', { roles: [{ name: 'one' }, { name: 'two' }] });
    [one, two, stranger] = (await home.ready(['try-one', 'try-two', 'other-one'])) as [Agent, Agent, Agent];
  });
  // One line, for the link that a test takes away.
  // The link that is taken away is missed, or never known: the daemon may not have looked at it yet.
  afterAll(() => home.close(expect.stringMatching(/^(\{[^\n]*"network rules drifted"\}\n)?$/)));

  const health = (agent: Agent) => ({ url: `${agent.status?.endpoints?.http}/health` });

  it('runs in the network that waited for it, with its own name and address, as the user of its team', async () => {
    expect([one, two].map(isFromPool)).toEqual([false, true]);
    expect(await home.inside('try-two', 'sh', '-c', 'hostname; cat /etc/hostname; id -u; readlink /proc/self/ns/net')).toBe(
      `try-two\ntry-two\n1000\nnet:[${statSync(networkOf(home, two)).ino}]\n`,
    );
    const ownerOf = ({ status }: Agent) => statSync(`/proc/${status?.pid}/root`).uid;
    expect(ownerOf(two)).toBe(ownerOf(one));
    expect(inNetwork(networkOf(home, two), 'ip', '-o', '-4', 'addr', 'show', 'dev', 'eth0')).toContain(`inet ${two.status?.ip}/32`);
    const devices = inNetwork(networkOf(home, two), 'cat', '/proc/net/dev').matchAll(/^ *(\w+):/gm);
    expect([...devices].map(([, name]) => name).sort()).toEqual(['eth0', 'lo']);
  });

  it('reaches whom its team lets it reach, and nobody else, and is reached so', async () => {
    const [mate, other] = await requestsFrom(home, 'try-two', [health(one), health(stranger)]);
    expect([mate?.status, other?.error]).toEqual([200, REFUSED]);
    const [back] = await requestsFrom(home, 'try-one', [health(two)]);
    const [strange] = await requestsFrom(home, 'other-one', [health(two)]);
    expect([back?.status, strange?.error]).toEqual([200, REFUSED]);
  });

  it('cannot speak with an address that is not its own', async () => {
    const spoofed = () => {
      const router = networkOf(home, two).replace(/-\d+$/, '');
      return Number(/packets (\d+)/.exec(inNetwork(router, 'nft', 'list', 'counter', 'inet', 'agentiso', 'spoofed'))?.[1]);
    };
    const before = spoofed();
    const network = networkOf(home, two);
    inNetwork(network, 'ip', 'addr', 'add', `${stranger.status?.ip}/32`, 'dev', 'eth0');
    const speak = `const socket = require('net').connect({ host: '${one.status?.ip}', port: 8080, localAddress: '${stranger.status?.ip}' });
      socket.on('connect', () => console.log('open')).on('error', (error) => console.log(error.code));
      setTimeout(() => process.exit(), 1500);`;
    expect(inNetwork(network, process.execPath, '-e', speak)).toBe('');
    inNetwork(network, 'ip', 'addr', 'del', `${stranger.status?.ip}/32`, 'dev', 'eth0');
    expect(spoofed()).toBeGreaterThan(before);
  });

  it('keeps its network over the end of its daemon, and gets its link back when somebody takes it away', async () => {
    const network = statSync(networkOf(home, two)).ino;
    const { stderr } = await home.kill();
    expect(stderr.split('\n').filter((line) => line.includes('workspace started from the pool'))).toEqual([
      expect.stringContaining(two.metadata.uid),
    ]);
    await home.start();
    const [again] = (await home.ready(['try-two'])) as [Agent];
    expect([again.status?.pid, again.status?.ip, statSync(networkOf(home, again)).ino]).toEqual([two.status?.pid, two.status?.ip, network]);
    inNetwork(networkOf(home, again), 'ip', 'link', 'del', 'eth0');
    await vi.waitFor(async () => {
      const [mate] = await requestsFrom(home, 'try-two', [health(one)]);
      expect(mate?.status).toBe(200);
    }, WAIT);
  });
});

withSandboxes('a pool on a machine with little room', () => {
  const home = new AgentsHome();
  afterAll(() => home.close());

  it('takes no more than the limits leave, gives it back to agents, and goes with its team', async () => {
    mkdirSync(home.home);
    writeFileSync(join(home.home, 'config.yaml'), JSON.stringify({ limits: { maxAgents: 3 } }));
    await home.start();
    await home.create('Team', 'small', teamOf('one', 'two'));
    await home.ready(['small-one', 'small-two']);
    await poolHas(home, 1);
    // Of another kind: what waits does not suit it.
    const large = { name: 'large', resources: { memoryMiB: 256 } };
    await home.change('teams', 'small', { roles: [{ name: 'one' }, { name: 'two' }, large] });
    await home.ready(['small-large']);
    await poolHas(home, 0);
    await home.delete('teams', 'small');
    await vi.waitFor(async () => expect(await home.agents()).toEqual([]), WAIT);
    await home.create('Team', 'other', teamOf('one'));
    await home.ready(['other-one']);
    await poolHas(home, 2);
    await home.delete('teams', 'other');
    await poolHas(home, 0);
  });
});

withSandboxes('a daemon that is killed while it gives a sandbox away', () => {
  const home = new AgentsHome();
  afterAll(() => home.close());

  it.each(STEPS)('leaves nothing half done: %s', async (step) => {
    await home.start([], { NODE_OPTIONS: `--require=${HOOK}`, AGENTISO_DIE_AT: step });
    await home.create('Team', step, teamOf('one'));
    await home.ready([`${step}-one`]);
    await poolHas(home, 2);
    const waiting = membersIn(home);
    await home.change('teams', step, { roles: [{ name: 'one' }, { name: 'two' }] });
    expect(await home.ended()).toMatchObject({ code: null, stderr: '' });
    await home.start();
    const [one, two] = (await home.ready([`${step}-one`, `${step}-two`])) as [Agent, Agent];
    expect(two.status?.restarts ?? 0).toBe(0);
    expect(await home.inside(`${step}-two`, 'hostname')).toBe(`${step}-two\n`);
    const [mate] = await requestsFrom(home, `${step}-two`, [{ url: `${one.status?.endpoints?.http}/health` }]);
    expect(mate?.status).toBe(200);
    // Of the two that waited, nothing is left but what became the agent: those that wait now are new.
    expect(membersIn(home).filter((name) => waiting.includes(name))).toEqual([]);
    const left = waiting.filter((name) => processesMentioning(name).length > 0);
    expect(left).toHaveLength(step === 'recorded' ? 1 : 0);
    expect([one, two].map(isFromPool)).toEqual([false, step === 'recorded']);
    await home.delete('teams', step);
    await vi.waitFor(async () => expect(await home.agents()).toEqual([]), WAIT);
    expect(await home.stop()).toMatchObject({ code: 0, stderr: '' });
  });
});
