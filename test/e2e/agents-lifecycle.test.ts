/** What a person asks of an agent in a real sandbox, and what comes of it: states, ports, secrets, teams side by side, and mistakes. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Agent } from '#api/types.ts';
import { AgentsHome, conditionOf, WAIT, withSandboxes } from '../support/agents-home.ts';
import { requestsFrom } from '../support/agents-requests.ts';
import { poolHas } from '../support/pool-members.ts';

const SECRET = `marker-${Math.random().toString(36).slice(2)}-of-a-secret`;
const isolation = { driver: 'sandbox' };

withSandboxes('an agent', () => {
  const home = new AgentsHome();
  beforeAll(async () => {
    await home.start([], { TEST_SECRET: SECRET });
    const portForwards = [{ guestPort: 3000 }];
    await home.create('Team', 'try', { isolation, roles: [{ name: 'one', envFrom: [{ hostEnv: 'TEST_SECRET' }], portForwards }] });
    await home.ready(['try-one']);
  });
  afterAll(() => home.close());

  it('is stopped and started again as its object says, with its files', async () => {
    const before = await home.agent('try-one');
    await home.inside('try-one', 'sh', '-c', 'echo precious > kept');
    await home.change('agents', 'try-one', { desiredState: 'Stopped' });
    const stopped = await vi.waitFor(async () => {
      const agent = await home.agent('try-one');
      expect(agent.status?.phase).toBe('Stopped');
      return agent;
    }, WAIT);
    expect([stopped.status?.pid, conditionOf(stopped, 'Ready')]).toEqual([undefined, 'False Stopped']);
    expect(home.machineState()).toMatchObject({ processes: [], groups: [] });
    const { code, stderr } = await home.startCli('exec', 'try-one', '--', 'true').result;
    expect([code, stderr]).toEqual([1, expect.stringContaining('its workspace does not run')]);
    await home.change('agents', 'try-one', { desiredState: 'Running' });
    const [after] = (await home.ready(['try-one'])) as [Agent];
    expect(after.status?.incarnation).not.toBe(before.status?.incarnation);
    expect([after.status?.restarts ?? 0, await home.inside('try-one', 'cat', 'kept')]).toEqual([0, 'precious\n']);
  });

  it('outlives a task that eats its memory, however many processes share it', async () => {
    await home.create('Team', 'eat', { isolation, roles: [{ name: 'one', resources: { memoryMiB: 256 } }] });
    const [before] = (await home.ready(['eat-one'])) as [Agent];
    if (!/^cgroup/.test(before.status?.isolation?.limits ?? '')) return;
    // Each of them is smaller than the guest: by size alone, that would be the one to go.
    const eater = '(x=$(head -c 8000000 /dev/zero | tr "\\0" x); sleep 20) &';
    const command = `for i in $(seq 60); do ${eater} done; wait`;
    await home.create('Task', 'eat-all', { team: 'eat', command, timeoutSeconds: 4, maxAttempts: 1 });
    await home.reached('eat-all', 'Failed');
    const after = await home.agent('eat-one');
    expect([after.status?.incarnation, after.status?.restarts ?? 0]).toEqual([before.status?.incarnation, 0]);
    expect(await home.inside('eat-one', 'cat', '/proc/self/oom_score_adj')).toBe('500\n');
    await home.delete('teams', 'eat');
    await vi.waitFor(async () => expect((await home.list('teams')).map(({ metadata }) => metadata.name)).toEqual(['try']), WAIT);
  });

  it('has its secrets in the environment of tasks and commands, and nowhere on disk', async () => {
    await home.create('Task', 'try-secret', {
      team: 'try',
      command: 'printf %s "$TEST_SECRET" | sha256sum; exit $(printf %s "$TEST_SECRET" | wc -c)',
      maxAttempts: 1,
    });
    const { status } = await home.reached('try-secret', 'Failed');
    const sum = spawnSync('sha256sum', { input: SECRET, encoding: 'utf8' }).stdout;
    expect([status?.result?.exitCode, status?.result?.stdout]).toEqual([SECRET.length, sum]);
    expect(await home.inside('try-one', 'sh', '-c', 'printf %s "$TEST_SECRET" | sha256sum')).toBe(sum);
    // 1: nothing found, and nothing that could not be read.
    expect(spawnSync('grep', ['-rlaF', '--devices=skip', SECRET, home.home], { encoding: 'utf8' })).toMatchObject({
      status: 1,
      stdout: '',
    });
  });

  it('is reached through a port of the machine, also after the daemon was killed', async () => {
    const server = "require('http').createServer((q, s) => s.end('inside ' + q.url)).listen(3000, '127.0.0.1')";
    await home.create('Task', 'try-server', { team: 'try', command: `exec node -e "${server}"`, timeoutSeconds: 300 });
    const hostPort = (await home.agent('try-one')).status?.endpoints?.portForwards?.[0]?.hostPort ?? 0;
    expect(hostPort).toBeGreaterThanOrEqual(30_000);
    const answer = async (path: string) => expect(await get(hostPort, path)).toContain(`inside ${path}`);
    await vi.waitFor(() => answer('/one'), WAIT);
    await home.kill();
    await expect(get(hostPort, '/')).rejects.toThrow('ECONNREFUSED');
    await home.start([], { TEST_SECRET: SECRET });
    await vi.waitFor(() => answer('/two'), WAIT);
    const [after] = (await home.ready(['try-one'])) as [Agent];
    expect(after.status?.endpoints?.portForwards).toEqual([{ guestPort: 3000, hostPort }]);
    expect((await home.task('try-server')).status).toMatchObject({ phase: 'Running', attempt: 1 });
    await home.delete('tasks', 'try-server');
  });

  it('whose secret is not there is not started, and says which one', async () => {
    await home.create('Team', 'poor', { isolation, roles: [{ name: 'one', envFrom: [{ hostEnv: 'NO_SUCH_SECRET' }] }] });
    const agent = await failed(home, 'poor-one');
    expect([conditionOf(agent, 'WorkspaceReady'), conditionOf(agent, 'Ready')]).toEqual(['False SecretMissing', 'False SecretMissing']);
    expect([messageOf(agent), agent.status?.pid]).toEqual([expect.stringContaining('NO_SUCH_SECRET'), undefined]);
    await home.delete('teams', 'poor');
  });

  it('with restartPolicy Never stays down when it has ended', async () => {
    await home.create('Team', 'once', { isolation, roles: [{ name: 'one', restartPolicy: 'Never' }] });
    const [before] = (await home.ready(['once-one'])) as [Agent];
    process.kill(before.status?.pid ?? 0, 'SIGKILL');
    const agent = await failed(home, 'once-one');
    expect([conditionOf(agent, 'WorkspaceReady'), agent.status?.restarts ?? 0]).toEqual(['False Exited', 0]);
    await home.delete('teams', 'once');
  });

  it('as a plain process cannot be had with limits', async () => {
    const demands = { driver: 'process', requireLimits: true };
    await home.create('Team', 'loose', { isolation: demands, roles: [{ name: 'one' }] });
    const agent = await failed(home, 'loose-one');
    expect(conditionOf(agent, 'WorkspaceReady')).toBe('False LimitsUnavailable');
    await home.delete('teams', 'loose');
    await home.create('Team', 'tight', { isolation: { driver: 'sandbox', requireLimits: true }, roles: [{ name: 'one' }] });
    const [tight] = (await home.ready(['tight-one'])) as [Agent];
    expect(tight.status?.isolation?.limits).not.toBe('none');
    await home.delete('teams', 'tight');
  });
});

withSandboxes('teams', () => {
  const home = new AgentsHome();
  beforeAll(() => home.start());
  afterAll(() => home.close());

  const team = (name: string) =>
    `---\napiVersion: agentiso.dev/v1alpha1\nkind: Team\nmetadata: {name: ${name}}\nspec:\n  isolation: {driver: sandbox}\n  network: {allowInterAgent: true}\n  roles: [{name: one}, {name: two}]\n`;
  const names = ['a-one', 'a-two', 'a-b-one', 'a-b-two'];
  const versions = async () =>
    Object.fromEntries(
      [...(await home.agents()), ...(await home.list('teams'))].map(({ kind, metadata }) => [
        `${kind} ${metadata.name}`,
        metadata.resourceVersion,
      ]),
    );

  it('applied twice are left alone: no new version, no new process', async () => {
    const file = join(home.folder, 'teams.yaml');
    writeFileSync(file, team('a') + team('a-b'));
    expect(await home.cli('apply', '-f', file)).toMatchObject({
      code: 0,
      stdout: 'team.agentiso.dev/a created\nteam.agentiso.dev/a-b created\n',
    });
    await home.ready(names);
    await settled(versions);
    // Two for each team, some time after its last start.
    await poolHas(home, 4);
    const before = [await versions(), home.machineState()];
    expect(await home.cli('apply', '-f', file)).toMatchObject({
      code: 0,
      stdout: 'team.agentiso.dev/a unchanged\nteam.agentiso.dev/a-b unchanged\n',
    });
    expect([await versions(), home.machineState()]).toEqual(before);
  });

  it('whose name begins like that of a deleted one keep agents, links and the way between them', async () => {
    const kept = (await home.ready(['a-b-one', 'a-b-two'])).map(({ status }) => [status?.incarnation, status?.pid, status?.ip]);
    const namespaces = home.machineState().namespaces.length;
    await home.delete('teams', 'a');
    await vi.waitFor(async () => expect((await home.agents()).map(({ metadata }) => metadata.name)).toEqual(['a-b-one', 'a-b-two']), WAIT);
    const after = await home.ready(['a-b-one', 'a-b-two']);
    expect(after.map(({ status }) => [status?.incarnation, status?.pid, status?.ip])).toEqual(kept);
    await vi.waitFor(() => expect(home.machineState().namespaces).toHaveLength(namespaces - 2), WAIT);
    const ask = `fetch('${after[1]?.status?.endpoints?.http}/health').then((answer) => console.log(answer.status))`;
    expect(await home.inside('a-b-one', 'node', '-e', ask)).toBe('200\n');
  });
});

withSandboxes('without QEMU', () => {
  const home = new AgentsHome();
  afterAll(() => home.close());

  it('an agent that asks for a machine of its own is told that there is none, and what there is', async () => {
    await home.startWithout('qemu-system-x86_64', ['--log-level', 'error']);
    await home.create('Team', 'strong', { isolation: { driver: 'vm' }, roles: [{ name: 'one' }] });
    const agent = await failed(home, 'strong-one');
    expect([conditionOf(agent, 'WorkspaceReady'), conditionOf(agent, 'Ready')]).toEqual([
      'False IsolationUnavailable',
      'False IsolationUnavailable',
    ]);
    expect(messageOf(agent)).toMatch(/asks for isolation vm; this machine offers process, sandbox \(.*QEMU/);
    await home.delete('teams', 'strong');
    expect(await home.stop()).toMatchObject({ code: 0, stderr: '' });
  });
});

withSandboxes('without bubblewrap', () => {
  const home = new AgentsHome();
  afterAll(() => home.close());

  it('a team that insists on a sandbox is told what to install, and another one runs as plain processes', async () => {
    await home.startWithout('bwrap', ['--log-level', 'error']);
    await home.create('Team', 'safe', { isolation: { minimum: 'sandbox' }, roles: [{ name: 'one' }] });
    await home.create('Team', 'loose', { roles: [{ name: 'one' }] });
    const agent = await failed(home, 'safe-one');
    expect(conditionOf(agent, 'WorkspaceReady')).toBe('False IsolationUnavailable');
    expect(messageOf(agent)).toContain('at least sandbox; this machine offers process (bubblewrap is not installed: there is no bwrap)');
    const [loose] = (await home.ready(['loose-one'])) as [Agent];
    expect(loose.status?.isolation).toMatchObject({ driver: 'process', network: 'none', limits: 'none' });
    expect(conditionOf(loose, 'NetworkReady')).toBe('True NotEnforced');
    expect(await home.inside('loose-one', 'sh', '-c', 'echo "$AGENTISO_HTTP_URL"')).toMatch(/^http:\/\/127\.99\.\d+\.\d+:8080\n$/);
    const [self, peer] = await requestsFrom(home, 'loose-one', [
      { url: 'own:/card', token: 'agent' },
      { url: 'own:/card', token: 'made-up' },
    ]);
    expect([self?.status, peer?.status]).toEqual([200, 403]);
  });
});

describe('plain processes of two homes', () => {
  const homes = [new AgentsHome(), new AgentsHome()];
  afterAll(() => Promise.all(homes.map((home) => home.close())));

  it('run beside each other, each with an interface of its own', async () => {
    const urls = await Promise.all(
      homes.map(async (home) => {
        await home.start();
        await home.create('Team', 'try', { isolation: { driver: 'process' }, roles: [{ name: 'one' }] });
        await home.ready(['try-one']);
        return home.inside('try-one', 'sh', '-c', 'echo "$AGENTISO_HTTP_URL"');
      }),
    );
    expect(new Set(urls).size).toBe(2);
  });
});

function failed(home: AgentsHome, name: string): Promise<Agent> {
  return vi.waitFor(async () => {
    const agent = await home.agent(name);
    expect(agent.status?.phase, JSON.stringify(agent.status)).toBe('Failed');
    return agent;
  }, WAIT);
}

function messageOf({ status }: Agent): string {
  return status?.conditions?.find(({ type }) => type === 'Ready')?.message ?? '';
}

/** Waits until two looks in a row give the same. */
async function settled(look: () => Promise<unknown>): Promise<void> {
  let before: unknown;
  await vi.waitFor(
    async () => {
      const now = await look();
      const isSame = JSON.stringify(now) === JSON.stringify(before);
      before = now;
      expect(isSame).toBe(true);
    },
    { ...WAIT, interval: 500 },
  );
}

function get(port: number, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(`GET ${path} HTTP/1.0\r\n\r\n`));
    let heard = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      heard += chunk;
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(heard));
  });
}
