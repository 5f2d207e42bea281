/** Agents in real sandboxes over the ends of their daemon, and over their own. */
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { Agent } from '#api/types.ts';
import { AgentsHome, WAIT, withSandboxes } from '../support/agents-home.ts';
import { NOTHING_LEFT } from '../support/machine-state.ts';

/** Ends when a file called `go` is there, and leaves one line per start. */
const LONG = 'echo $AGENTISO_ATTEMPT >> starts; until [ -e go ]; do sleep 0.05; done; rm go; cat starts';

withSandboxes('an agent and its daemon', () => {
  const home = new AgentsHome();
  let first: Agent;
  beforeAll(async () => {
    await home.start();
    const portForwards = [{ guestPort: 3000, hostPort: await freePort() }];
    await home.create('Team', 'try', { isolation: { driver: 'sandbox' }, roles: [{ name: 'one', portForwards }] });
    [first] = (await home.ready(['try-one'])) as [Agent];
  });
  afterAll(() => home.close());

  const run = ({ status }: Agent) => [status?.pid, status?.incarnation, status?.ip, status?.endpoints?.portForwards, status?.restarts];
  const works = async (task: string) => {
    await home.reached(task, 'Running');
    await vi.waitFor(async () => expect(await home.inside('try-one', 'cat', 'starts')).not.toBe(''), WAIT);
  };

  it('goes on when the daemon is killed: the next one finds the same run, and the task ends once', async () => {
    await home.create('Task', 'try-killed', { team: 'try', command: LONG });
    await works('try-killed');
    await home.kill();
    expect(home.machineState().processes).not.toEqual([]);
    await home.start();
    const [again] = (await home.ready(['try-one'])) as [Agent];
    expect(run(again)).toEqual(run(first));
    await home.inside('try-one', 'touch', 'go');
    const { status } = await home.reached('try-killed', 'Succeeded');
    expect(run(await home.agent('try-one'))).toEqual(run(first));
    expect([status?.result?.stdout, status?.attempt]).toEqual(['1\n', 1]);
  });

  it('goes on when the daemon is stopped and asked to keep it', async () => {
    await home.stop();
    await home.start(['--keep-workspaces']);
    const [before] = (await home.ready(['try-one'])) as [Agent];
    expect(before.status?.incarnation).not.toBe(first.status?.incarnation);
    await home.create('Task', 'try-kept', { team: 'try', command: `rm -f starts; ${LONG}` });
    await works('try-kept');
    expect(await home.stop()).toMatchObject({ code: 0, stderr: '' });
    expect(home.machineState().processes).not.toEqual([]);
    await home.start();
    const [after] = (await home.ready(['try-one'])) as [Agent];
    expect(run(after)).toEqual(run(before));
    await home.inside('try-one', 'touch', 'go');
    const { status } = await home.reached('try-kept', 'Succeeded');
    expect(run(await home.agent('try-one'))).toEqual(run(before));
    expect([status?.result?.stdout, status?.attempt]).toEqual(['1\n', 1]);
  });

  it('ends with a daemon that is stopped and comes back with the next; the attempt that was cut does not count', async () => {
    const [before] = (await home.ready(['try-one'])) as [Agent];
    await home.create('Task', 'try-cut', { team: 'try', maxAttempts: 1, command: `rm -f starts; ${LONG}` });
    await works('try-cut');
    expect(await home.stop()).toMatchObject({ code: 0, stderr: '' });
    expect(home.machineState()).toEqual(NOTHING_LEFT);
    await home.start();
    const [after] = (await home.ready(['try-one'], ({ status }) => status?.phase === 'Working')) as [Agent];
    expect(after.status?.incarnation).not.toBe(before.status?.incarnation);
    expect(after.status).toMatchObject({ endpoints: { portForwards: before.status?.endpoints?.portForwards } });
    expect(after.status?.restarts ?? 0).toBe(before.status?.restarts ?? 0);
    await works('try-cut');
    await home.inside('try-one', 'touch', 'go');
    const { status } = await home.reached('try-cut', 'Succeeded');
    expect([status?.attempt, status?.failures ?? 0]).toEqual([2, 0]);
  });

  it.each([
    ['guest agent', guestOf],
    ['first process', (pid: number) => pid],
  ])('is ready again with a new run when its %s is killed', async (_name, victim) => {
    const [before] = (await home.ready(['try-one'])) as [Agent];
    await home.inside('try-one', 'sh', '-c', 'echo precious > kept');
    killOwn(victim(before.status?.pid ?? 0, before.metadata.uid), before.metadata.uid);
    const [after] = (await home.ready(['try-one'], ({ status }) => status?.incarnation !== before.status?.incarnation)) as [Agent];
    expect(after.status?.restarts).toBe((before.status?.restarts ?? 0) + 1);
    expect(await home.inside('try-one', 'cat', 'kept')).toBe('precious\n');
  });
});

/** The last in the line of processes that carry the agent's uid: its guest. */
function guestOf(pid: number, uid: string): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
  const child = children.find((each) => readFileSync(`/proc/${each}/cmdline`, 'utf8').includes(uid));
  return child === undefined ? pid : guestOf(child, uid);
}

/** Only what carries the agent's uid on its command line is ever killed from here. */
function killOwn(pid: number, uid: string): void {
  expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).toContain(uid);
  process.kill(pid, 'SIGKILL');
}

function freePort(): Promise<number> {
  const server = createServer();
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
