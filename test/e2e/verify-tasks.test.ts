/** Tasks that count only when their `verify` commands pass, with real sandboxes and over the end of the daemon. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { Task } from '#api/types.ts';
import { AgentsHome, WAIT, withSandboxes } from '../support/agents-home.ts';
import { machineStateOf } from '../support/machine-state.ts';
import { processesMentioning } from '../support/processes.ts';

const COMMIT = 'git -c user.name=a -c user.email=a@b commit -q -m work';

withSandboxes('a task with verify', () => {
  const home = new AgentsHome();
  beforeAll(async () => {
    await home.start();
    await home.create('Team', 'try', { isolation: { driver: 'sandbox' }, roles: [{ name: 'one' }] });
    await home.ready(['try-one']);
  });
  afterAll(() => home.close());

  const create = (name: string, spec: object) => home.create('Task', `try-${name}`, { team: 'try', maxAttempts: 1, ...spec });
  const verified = ({ status }: Task) => status?.conditions?.find(({ type }) => type === 'Verified');
  const scratches = () => readdirSync(join(home.home, 'state/workspaces/sandbox')).filter((name) => name.startsWith('verify-'));
  const records = () => readdirSync(join(home.home, 'state/verifications'));

  it('succeeds when its work, as it is committed, passes where nothing else is', async () => {
    const command = `git init -q . && echo good > file && git add file && ${COMMIT} && git rev-parse HEAD && echo other > outside`;
    const verify = ['grep -q good file', 'test ! -e outside', 'test "$(grep -c : /proc/net/dev)" = 1'];
    await create('good', { command, verify });
    const task = await home.reached('try-good', 'Succeeded');
    const commit = task.status?.result?.stdout?.trim();
    expect(task.status?.result?.commit).toBe(commit);
    expect(task.status?.verification).toMatchObject({
      attempt: 1,
      commit,
      passed: true,
      commands: verify.map((each) => ({ command: each, exitCode: 0 })),
    });
    expect(verified(task)).toMatchObject({ status: 'True' });
    expect([scratches(), records()]).toEqual([[], []]);
  });

  it('fails when only what is not committed would pass', async () => {
    await create('loose', { command: 'echo better > file', verify: ['cat file && grep -q better file', 'true'] });
    const task = await home.reached('try-loose', 'Failed');
    expect(task.status?.result?.exitCode).toBe(0);
    expect(task.status?.verification).toMatchObject({ passed: false, commands: [{ exitCode: 1, output: 'good\n' }] });
    expect(verified(task)).toMatchObject({ status: 'False', reason: 'VerifyFailed' });
    expect([scratches(), records()]).toEqual([[], []]);
  });

  it('is tried again when it does not pass, and verified again', async () => {
    const command = `echo $AGENTISO_ATTEMPT > attempt && git add attempt && ${COMMIT}`;
    await create('second', { command, maxAttempts: 2, verify: ['test "$(cat attempt)" = 2'] });
    const task = await home.reached('try-second', 'Succeeded');
    expect(task.status).toMatchObject({ attempt: 2, failures: 1, verification: { attempt: 2, passed: true } });
  });

  it('is verified anew after the daemon was killed meanwhile, and nothing of the first time is left', async () => {
    await create('killed', { command: `echo 1 > one && git add one && ${COMMIT}`, verify: ['sleep 4.321', 'cat one'] });
    const [first = ''] = await vi.waitFor(async () => {
      const found = scratches();
      expect(found).toHaveLength(1);
      // Its guest runs, and so does the command inside.
      expect(processesMentioning('sleep\x004').length).toBeGreaterThan(0);
      return found;
    }, WAIT);
    await home.kill();
    expect(machineStateOf(home.home, [first]).processes).not.toEqual([]);
    expect(records()).toEqual([`${first}.json`]);
    await home.start();
    await vi.waitFor(() => expect(scratches()).not.toContain(first), WAIT);
    const task = await home.reached('try-killed', 'Succeeded');
    expect(task.status).toMatchObject({ attempt: 1, verification: { passed: true, commands: [{ exitCode: 0 }, { output: '1\n' }] } });
    await vi.waitFor(() => expect([scratches(), records()]).toEqual([[], []]), WAIT);
    const left = machineStateOf(home.home, [first]);
    expect([left.groups, left.processes.filter((line) => line.includes(first))]).toEqual([[], []]);
  });

  it('leaves nothing when the daemon is stopped in the middle, and goes on with the next one', async () => {
    await create('stopped', { command: 'true', verify: ['sleep 3'] });
    await vi.waitFor(() => expect(scratches()).toHaveLength(1), WAIT);
    expect(await home.stop()).toMatchObject({ code: 0, stderr: '' });
    expect([scratches(), records()]).toEqual([[], []]);
    await home.start();
    await home.reached('try-stopped', 'Succeeded');
  });

  it('that is deleted meanwhile takes its verification along', async () => {
    await create('deleted', { command: 'true', verify: ['sleep 987'] });
    await vi.waitFor(() => expect(scratches()).toHaveLength(1), WAIT);
    await home.delete('tasks', 'try-deleted');
    await vi.waitFor(() => expect([scratches(), records()]).toEqual([[], []]), WAIT);
  });
});
