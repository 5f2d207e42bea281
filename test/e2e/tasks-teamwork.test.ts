/** Tasks of a real team in sandboxes: assigned and claimed, planned and asked for, by programs in the workspaces and by people. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { Task } from '#api/types.ts';
import { AgentsHome, WAIT, withSandboxes } from '../support/agents-home.ts';
import type { CliResult } from '../support/cli.ts';

const NAMES = ['ann', 'bob', 'lead'] as const;
/** Says that it has begun, and ends when it is told to. */
const waitingFor = (name: string) => `echo ${name} >> begun; until [ -e go-${name} ]; do sleep 0.05; done`;

withSandboxes('the tasks of a team', () => {
  const home = new AgentsHome();
  beforeAll(async () => {
    await home.start();
    await home.create('Team', 'work', { isolation: { driver: 'sandbox' }, roles: NAMES.map((name) => ({ name })) });
    await home.ready(NAMES.map((name) => `work-${name}`));
  });
  afterAll(() => home.close());

  const team = (agent: string, ...words: readonly string[]): Promise<CliResult> =>
    home.startCli('exec', `work-${agent}`, '--', 'team', ...words).result;
  const said = async (agent: string, ...words: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await team(agent, ...words);
    expect([code, stderr], `${words.join(' ')}: ${stdout}`).toEqual([0, '']);
    return stdout;
  };
  const become = (name: string, check: (task: Task) => void): Promise<Task> =>
    vi.waitFor(async () => {
      const task = await home.task(name);
      check(task);
      return task;
    }, WAIT);
  const planIs = (task: Task) => {
    const found = task.status?.conditions?.find(({ type }) => type === 'PlanApproved');
    return `${found?.status} ${found?.reason}`;
  };

  it('have results that name the message which assigned them', async () => {
    await home.create('Task', 'work-say', { team: 'work', assignTo: 'ann', command: "printf 'one\\ntwo'; printf three >&2" });
    const { status } = await home.reached('work-say', 'Succeeded');
    expect(status?.result).toMatchObject({ exitCode: 0, stdout: 'one\ntwo', stderr: 'three' });
    expect(status?.claim).toBe('Assigned');
    const { metadata } = await home.agent('work-ann');
    const journal = readFileSync(join(home.home, 'state', 'mail', `${metadata.uid}.jsonl`), 'utf8');
    const records = journal
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const assigned = records.filter(({ message }) => message?.message_type === 'task_assignment').map(({ message }) => message.message_id);
    expect(assigned).toEqual([status?.result?.sourceMessageId]);
  });

  it('wait for a place in the order in which they were made, and keep no mail from being read', async () => {
    const names = ['w1', 'w2', 'w3', 'w4', 'w5', 'w6'];
    for (const name of names) await home.create('Task', `work-${name}`, { team: 'work', assignTo: 'bob', command: waitingFor(name) });
    const begun = async () => (await home.inside('work-bob', 'cat', 'begun')).trim().split('\n');
    await vi.waitFor(async () => expect((await begun()).sort()).toEqual(['w1', 'w2', 'w3', 'w4']), WAIT);
    for (const name of ['work-w5', 'work-w6']) {
      await become(name, ({ status }) => expect([status?.phase, status?.reason]).toEqual(['Pending', 'AgentsBusy']));
    }
    await said('ann', 'send', 'bob', 'how', 'are', 'you');
    expect(await said('bob', 'wait', '--from', 'ann', '--ack', '--text')).toBe('how are you\n');
    await home.inside('work-bob', 'touch', 'go-w3');
    await vi.waitFor(async () => expect((await begun()).slice(4)).toEqual(['w5']), WAIT);
    await home.inside('work-bob', 'touch', 'go-w1');
    await vi.waitFor(async () => expect((await begun()).slice(4)).toEqual(['w5', 'w6']), WAIT);
    await home.inside('work-bob', 'touch', ...names.map((name) => `go-${name}`));
    for (const name of names) await home.reached(`work-${name}`, 'Succeeded');
  });

  it('that are open are claimed by one of those who try, and not before what they wait for has succeeded', async () => {
    await home.create('Task', 'work-first', { team: 'work', prompt: 'think' });
    await home.create('Task', 'work-second', { team: 'work', prompt: 'think again', dependsOn: ['first'] });
    await home.create('Task', 'work-third', { team: 'work', command: 'true', dependsOn: ['first'] });
    await become('work-first', ({ status }) => expect(status?.reason).toBe('OpenForClaim'));
    for (const name of ['second', 'third']) {
      const refused = await team('ann', 'claim', name);
      expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('DependenciesPending')]);
      await home.change('tasks', `work-${name}`, { assignTo: 'ann' });
      await become(`work-${name}`, ({ metadata, status }) => {
        expect([status?.observedGeneration, status?.phase]).toEqual([metadata.generation, 'Blocked']);
      });
    }
    const claims = await Promise.all(NAMES.map((name) => team(name, 'claim', 'first')));
    expect(claims.map(({ code }) => code).sort()).toEqual([0, 1, 1]);
    const winner = NAMES[claims.findIndex(({ code }) => code === 0)] as string;
    expect((await home.task('work-first')).status).toMatchObject({
      phase: 'Claimed',
      claim: 'Pulled',
      owner: `work-${winner}`,
      attempt: 1,
    });
    const loser = NAMES.find((name) => name !== winner) as string;
    const stolen = await team(loser, 'done', 'first', 'mine');
    expect([stolen.code, stolen.stderr]).toEqual([1, expect.stringContaining(`work-${winner} has it`)]);
    await said(winner, 'progress', 'first', 'half way');
    await said(winner, 'done', 'first', 'it is so');
    await said(winner, 'done', 'first', 'and again');
    const { status } = await home.reached('work-first', 'Succeeded');
    expect(status).toMatchObject({ result: { stdout: 'it is so' }, progress: { text: 'half way' }, attempt: 1 });
    await home.reached('work-third', 'Succeeded');
    await said('ann', 'claim', 'second');
    await said('ann', 'done', 'second');
    await vi.waitFor(async () => {
      const unblocked = (await home.events('TaskUnblocked')).map(({ involvedObject }) => involvedObject.name);
      expect(unblocked.sort()).toEqual(['work-second', 'work-third']);
    }, WAIT);
  });

  it('that an agent asks for are claimed once, and it hears who has them and what came of them', async () => {
    const asked = JSON.parse(await said('ann', 'request', '--json', '--timeout', '60', 'check', 'this'));
    const id: string = asked.request_id;
    expect(id).toMatch(/^task-\d{3}$/);
    expect(await said('bob', 'wait', '--type', 'request', '--request', id, '--ack', '--text')).toBe('check this\n');
    const claims = await Promise.all(['bob', 'lead'].map((name) => team(name, 'claim', id)));
    expect(claims.map(({ code }) => code).sort()).toEqual([0, 1]);
    const winner = claims[0]?.code === 0 ? 'bob' : 'lead';
    expect((await team('ann', 'claim', id)).code).toBe(1);
    const answer = () => said('ann', 'wait', '--type', 'response', '--request', id, '--ack', '--text');
    expect(await answer()).toBe(`claimed by ${winner}\n`);
    await said(winner, 'done', id, 'all right');
    expect(await answer()).toBe('all right\n');
    expect((await home.task(`work-${id}`)).status).toMatchObject({ createdBy: 'ann', phase: 'Succeeded' });
    const late = JSON.parse(await said('ann', 'request', '--json', '--timeout', '1', 'anybody?')).request_id;
    await become(`work-${late}`, ({ status }) => expect([status?.phase, status?.reason]).toEqual(['Failed', 'RequestExpired']));
    expect(await said('ann', 'wait', '--type', 'response', '--request', late, '--ack', '--text')).toMatch(/^RequestExpired/);
  });

  it('that need a plan begin when it is approved, by the lead or by people, and not when it is refused', async () => {
    await home.create('Task', 'work-build', { team: 'work', assignTo: 'ann', planRequired: true, command: 'echo built' });
    await become('work-build', (task) => expect(planIs(task)).toBe('False PlanNeeded'));
    expect(await said('ann', 'wait', '--type', 'task_update', '--ack', '--text')).toMatch(/^Task build is yours, and needs a plan first/);
    await said('ann', 'plan', 'build', 'just', 'do', 'it');
    expect(await said('lead', 'wait', '--type', 'plan_submission', '--ack', '--text')).toContain('just do it');
    expect((await team('bob', 'approve', 'build')).code).toBe(1);
    await said('lead', 'refuse', 'build', 'say', 'how');
    expect(await said('ann', 'wait', '--type', 'plan_approval', '--ack', '--text')).toMatch(/was refused: say how/);
    expect((await home.task('work-build')).status?.phase).toBe('Claimed');
    await said('ann', 'plan', 'build', 'with', 'make');
    await become('work-build', (task) => expect([planIs(task), task.status?.plan?.round]).toEqual(['Unknown PlanSubmitted', 2]));
    expect((await home.cli('approve', 'work-build')).code).toBe(0);
    const { status } = await home.reached('work-build', 'Succeeded');
    expect(status?.result?.stdout).toBe('built\n');
    await home.create('Task', 'work-never', { team: 'work', assignTo: 'bob', planRequired: true, command: 'touch never' });
    for (const round of [1, 2, 3]) {
      await become('work-never', (task) => expect(planIs(task)).toMatch(/^False/));
      await said('bob', 'plan', 'never', `try ${round}`);
      expect((await home.cli('refuse', 'work-never', '--feedback', 'no')).code).toBe(0);
    }
    expect((await home.reached('work-never', 'Failed')).status?.reason).toBe('PlanRejected');
    expect((await home.startCli('exec', 'work-bob', '--', 'test', '-e', 'never').result).code).toBe(1);
  });

  it('that failed are tried again when people say so, and those that waited go on', async () => {
    await home.create('Task', 'work-flaky', { team: 'work', assignTo: 'ann', maxAttempts: 1, command: 'test -e there' });
    await home.create('Task', 'work-after', { team: 'work', command: 'true', dependsOn: ['flaky'] });
    await home.reached('work-flaky', 'Failed');
    await become('work-after', ({ status }) => expect(status?.reason).toBe('DependencyFailed'));
    await home.inside('work-ann', 'touch', 'there');
    expect((await home.cli('retry', 'work-flaky')).code).toBe(0);
    expect((await home.reached('work-flaky', 'Succeeded')).status).toMatchObject({ attempt: 2, retries: 1, failures: 0 });
    await home.reached('work-after', 'Succeeded');
  });
});
