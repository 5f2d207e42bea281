import { describe, expect, it } from 'vitest';
import type { Task } from '#api/types.ts';
import { UnavailableError } from '#lib/errors.ts';
import { interceptClient } from '#runtime/testing.ts';
import { conditionOf, newTask } from '../../test/support/controllers.ts';
import { createTaskBook } from './book.ts';
import { OK, ONE, PEOPLE, pulled, running, setUp } from './controller.fixture.ts';

const claimed = { claimed: true, message: 'it is yours', task: 'one', title: 'one', description: 'do it' };

describe('a claim', () => {
  it('of a prompt, which nobody is assigned to, is on disk when it is answered', async () => {
    const { client, look, task, book, as, attempts, readyAgent } = setUp();
    await readyAgent('a-worker');
    await client.create<Task>(newTask('a-one', { prompt: 'do it' }));
    expect(await look()).toEqual({});
    expect(task()?.status).toMatchObject({ phase: 'Pending', reason: 'OpenForClaim' });
    expect(conditionOf(task(), 'Ready')).toBe('True OpenForClaim: any suitable agent of the team may claim it');
    expect(await book.claim(as('a-worker'), ONE)).toEqual({ ...claimed, attempt: 1, fencing_token: 1 });
    expect(task()?.status).toMatchObject({
      phase: 'Claimed',
      claim: 'Pulled',
      owner: 'a-worker',
      ownerIncarnation: 'run-1',
      attempt: 1,
      fencingToken: 1,
      lease: { holder: 'a-worker@run-1' },
    });
    expect(await look()).toEqual({ requeueAfterMs: 10_000 });
    expect([attempts.runs, task()?.status?.phase]).toEqual([[], 'Claimed']);
  });

  it('is won once, also in the same moment; the others hear of the winner, the winner gets the same answer again', async () => {
    const { client, look, task, book, as, readyAgent } = setUp();
    const names = Array.from({ length: 20 }, (_, index) => `a-w${index}`);
    for (const name of names) await readyAgent(name);
    await client.create<Task>(newTask('a-one', { prompt: 'do it' }));
    await look();
    const answers = await Promise.all(names.map((name) => book.claim(as(name), ONE)));
    const winner = task()?.status?.owner ?? '';
    expect(answers.filter((answer) => answer.claimed)).toEqual([{ ...claimed, attempt: 1, fencing_token: 1 }]);
    const short = winner.slice(2);
    expect(new Set(answers.filter((answer) => !answer.claimed).map((answer) => `${answer.winner}: ${answer.message}`))).toEqual(
      new Set([`${short}: ${short} has it`]),
    );
    expect(await book.claim(as(winner), ONE)).toEqual({ ...claimed, attempt: 1, fencing_token: 1 });
    await book.complete(as(winner), ONE, {});
    const late = names.find((name) => name !== winner) ?? '';
    expect(await book.claim(as(late), ONE)).toMatchObject({ claimed: false, winner: short, message: `it is over: ${short} has done it` });
  });

  it.each([
    {
      name: 'that waits for another',
      spec: { dependsOn: ['zero'] },
      says: 'task one cannot be claimed: DependencyNotFound: it waits for zero',
    },
    { name: 'that is for somebody else', spec: { assignTo: 'boss' }, says: 'it is for agent or role boss, not for a-worker' },
    { name: 'that asks for more', spec: { skills: ['sql'] }, says: 'it is for agent with the skills sql, not for a-worker' },
    { name: 'that is cancelled', spec: { cancelled: true }, says: 'Cancelled: spec.cancelled is true' },
    { name: 'that this version cannot do', spec: { verify: ['true'] }, says: 'NotSupportedYet' },
  ])('of a task $name is refused with the reason', async ({ spec, says }) => {
    const { client, task, book, as, readyAgent } = setUp();
    await readyAgent('a-worker');
    await client.create<Task>(newTask('a-one', { prompt: 'do it', ...spec }));
    await expect(book.claim(as('a-worker'), ONE)).rejects.toMatchObject({ code: 'Conflict', message: expect.stringContaining(says) });
    expect(task()?.status).toBeUndefined();
  });

  it('by an agent that is not ready, has no place, or is another run by now is refused', async () => {
    const { client, book, as, readyAgent, setAgent } = setUp();
    await readyAgent('a-worker', { maxConcurrentTasks: 1 });
    await client.create<Task>(newTask('a-one', { prompt: 'do it' }));
    await client.create<Task>(newTask('a-two', { prompt: 'do it' }));
    await expect(book.claim(as('a-worker', 'run-0'), ONE)).rejects.toMatchObject({ code: 'FenceLost' });
    const before = as('a-worker');
    await setAgent('a-worker', { phase: 'Starting' });
    await expect(book.claim(before, ONE)).rejects.toMatchObject({ code: 'Conflict', message: /a-worker is not ready/ });
    await setAgent('a-worker', { phase: 'Ready' });
    await book.claim(before, ONE);
    await expect(book.claim(before, { ...ONE, task: 'two' })).rejects.toMatchObject({ code: 'Conflict', message: /has its hands full/ });
    await expect(book.claim(PEOPLE, ONE)).rejects.toMatchObject({ code: 'Forbidden' });
    await expect(book.claim(before, { ...ONE, task: 'nine' })).rejects.toMatchObject({ code: 'NotFound' });
  });

  it('and an assignment never take the same place or the same task', async () => {
    const { client, controller, reconcile, book, as, readyAgent, task, tell } = setUp();
    await readyAgent('a-worker', { maxConcurrentTasks: 3 });
    const names = Array.from({ length: 8 }, (_, index) => `a-t${index}`);
    for (const name of names) await client.create<Task>(newTask(name));
    await client.create<Task>(newTask('a-one', { prompt: 'do it' }));
    tell();
    const claims = [...names, 'a-one'].map((name) => book.claim(as('a-worker'), { ...ONE, task: name }));
    await Promise.allSettled([...claims, ...names.map((name) => reconcile(controller, 'Task', name))]);
    expect([...names, 'a-one'].filter((name) => task(name)?.status?.phase === 'Claimed')).toHaveLength(3);
  });

  it('that is on its way keeps the controller waiting, and one that fails leaves nothing behind', async () => {
    const { client, boards, ctx, task, look, controller, as, readyAgent, attempts, tell } = setUp();
    await readyAgent('a-worker', { maxConcurrentTasks: 1 });
    await client.create<Task>(newTask('a-one'));
    tell();
    let refuseWrite: (error: Error) => void = () => {};
    const stalling = interceptClient(client, (verb) =>
      verb === 'updateStatus' ? new Promise<void>((_resolve, reject) => (refuseWrite = reject)) : undefined,
    );
    const poked: string[] = [];
    boards.wake(({ name }) => void poked.push(name));
    const claim = createTaskBook({ client: stalling, boards, events: ctx.events, canVerify: false }).claim(as('a-worker'), ONE);
    while (!boards.known('default', 'a')?.isBeingClaimed('a-one')) await new Promise((resolve) => setImmediate(resolve));
    expect([await look(), task()?.status?.phase]).toEqual([{}, undefined]);
    refuseWrite(new UnavailableError('disk full'));
    await expect(claim).rejects.toThrow('disk full');
    expect(poked).toEqual(['a-one']);
    await look(controller);
    await look(controller);
    expect([task()?.status?.claim, attempts.runs.length]).toEqual(['Assigned', 1]);
  });

  it('gives a prompt with the outputs of what it waited for', async () => {
    const { client, lookAt, book, as, attempts, readyAgent } = setUp();
    await readyAgent('a-worker');
    await client.create<Task>(newTask('a-zero'));
    await lookAt('a-zero');
    await lookAt('a-zero');
    attempts.runs[0]?.end({ ...OK, stdout: '42\n' });
    await lookAt('a-zero');
    await client.create<Task>(newTask('a-one', { prompt: 'explain {{tasks.zero.result.stdout}}', dependsOn: ['zero'] }));
    await lookAt('a-one');
    expect((await book.claim(as('a-worker'), ONE)).description).toMatch(/^explain 42/);
  });
});

describe('the owner of a claim', () => {
  it('says that it has begun, how it gets on, that it is stuck, and that it is done; once is as good as twice', async () => {
    const { task, book, as, look, pass, ctx } = await pulled();
    const me = as('a-worker');
    expect(await book.update(me, ONE, { status: 'in_progress', progress: 'reading' })).toBe('in_progress');
    expect(task()?.status).toMatchObject({ phase: 'Running', startedAt: '2026-01-02T03:04:05.000Z', progress: { text: 'reading' } });
    expect(await book.update(me, ONE, { status: 'blocked', reason: 'no key', note: 'asked ann' })).toBe('blocked');
    expect(task()?.status).toMatchObject({ phase: 'Blocked', reason: 'BlockedByOwner', owner: 'a-worker' });
    expect(conditionOf(task(), 'Ready')).toBe('False BlockedByOwner: no key');
    expect(await look()).toEqual({ requeueAfterMs: 10_000 });
    expect(task()?.status?.phase).toBe('Blocked');
    await book.update(me, ONE, { status: 'in_progress' });
    pass(2_500);
    expect(await book.complete(me, ONE, { result: 'all good', artifacts: ['x.md', 'x.md'], attempt: 1 })).toBe('completed');
    const done = task();
    expect(done?.status).toMatchObject({ phase: 'Succeeded', notes: [{ author: 'worker', text: 'asked ann' }] });
    expect(done?.status?.result).toEqual({
      exitCode: 0,
      stdout: 'all good',
      stderr: '',
      truncated: false,
      elapsedSeconds: 2.5,
      artifacts: [{ name: 'x.md' }],
    });
    expect(await book.complete(me, ONE, { result: 'again' })).toBe('completed');
    expect(task()).toBe(done);
    expect(ctx.recorded.at(-1)).toMatchObject({ reason: 'Succeeded', message: 'attempt 1 was completed by a-worker after 2.5 s' });
  });

  it('that gives up makes the next attempt wait, and the last failure is one for good', async () => {
    const { task, book, as, look, pass } = await pulled({ maxAttempts: 2 });
    await expect(book.update(as('a-worker'), ONE, { status: 'failed' })).rejects.toMatchObject({ code: 'Invalid' });
    expect(await book.update(as('a-worker'), ONE, { status: 'failed', reason: 'too hard' })).toBe('pending');
    expect(conditionOf(task(), 'Ready')).toBe('False AttemptFailed: attempt 1 of 2 was given up by a-worker: too hard');
    await expect(book.claim(as('a-worker'), ONE)).rejects.toMatchObject({ code: 'Conflict', message: /it can be had in 1 s/ });
    pass(1_000);
    await look();
    expect(await book.claim(as('a-worker'), ONE)).toMatchObject({ claimed: true, attempt: 2, fencing_token: 2 });
    await expect(book.complete(as('a-worker'), ONE, { attempt: 1 })).rejects.toMatchObject({ code: 'FenceLost' });
    expect(await book.update(as('a-worker'), ONE, { status: 'failed', reason: 'still' })).toBe('failed');
    expect(task()?.status).toMatchObject({ phase: 'Failed', reason: 'MaxAttempts' });
    await expect(book.complete(as('a-worker'), ONE, {})).rejects.toMatchObject({ code: 'Conflict' });
  });

  it('is this run of the agent and nobody else; notes are everybody’s', async () => {
    const { task, book, as, readyAgent } = await pulled();
    await readyAgent('a-other');
    const before = task();
    for (const stranger of [as('a-other'), as('a-worker', 'run-0')]) {
      await expect(book.complete(stranger, ONE, {})).rejects.toMatchObject({ code: 'FenceLost' });
      await expect(book.update(stranger, ONE, { progress: 'x' })).rejects.toMatchObject({ code: 'FenceLost' });
      await expect(book.release(stranger, ONE)).rejects.toMatchObject({ code: 'FenceLost' });
    }
    await expect(book.complete(PEOPLE, ONE, {})).rejects.toMatchObject({ code: 'Forbidden' });
    await expect(book.update(PEOPLE, ONE, { status: 'in_progress' })).rejects.toMatchObject({ code: 'Forbidden' });
    expect(task()).toBe(before);
    await book.update(as('a-other'), ONE, { note: 'mind the gap' });
    await book.update(PEOPLE, ONE, { note: 'thanks' });
    expect(task()?.status?.notes?.map(({ author, text }) => `${author}: ${text}`)).toEqual(['other: mind the gap', 'orchestrator: thanks']);
    await expect(book.update(PEOPLE, ONE, { note: 'x'.repeat(20_000) })).rejects.toMatchObject({ code: 'TooLarge' });
  });

  it('gives it back before it begins, or the lead does, or people do', async () => {
    const { task, book, as, readyAgent, look } = await pulled();
    await readyAgent('a-lead');
    expect(await book.release(as('a-worker'), ONE)).toBe('pending');
    expect(task()?.status).toMatchObject({ phase: 'Pending', reason: 'Released' });
    expect([task()?.status?.owner, task()?.status?.failures]).toEqual([undefined, undefined]);
    await look();
    for (const boss of [as('a-lead'), PEOPLE]) {
      await book.claim(as('a-worker'), ONE);
      expect(await book.release(boss, ONE)).toBe('pending');
    }
    await book.claim(as('a-worker'), ONE);
    await book.update(as('a-worker'), ONE, { status: 'in_progress' });
    await expect(book.release(PEOPLE, ONE)).rejects.toMatchObject({ code: 'Conflict' });
    expect(task()?.status?.fencingToken).toBe(4);
  });
});

it('an assigned command ends with itself and not by words', async () => {
  const { task, book, as, run, look } = await running();
  await expect(book.complete(as('a-worker'), ONE, {})).rejects.toMatchObject({ code: 'Conflict', message: /ends with its command/ });
  await expect(book.update(as('a-worker'), ONE, { status: 'failed', reason: 'x' })).rejects.toMatchObject({ code: 'Conflict' });
  await expect(book.release(PEOPLE, ONE)).rejects.toMatchObject({ code: 'Conflict' });
  expect(await book.update(as('a-worker'), ONE, { progress: 'half', status: 'in_progress' })).toBe('in_progress');
  expect(task()?.status?.progress?.text).toBe('half');
  run.end(OK);
  await look();
  expect(task()?.status?.phase).toBe('Succeeded');
});

describe('a task without a name', () => {
  it('says who made it from the moment of its claim on, before the controller has seen it', async () => {
    const { book, as, readyAgent, task, client } = setUp();
    for (const name of ['a-worker', 'a-other']) await readyAgent(name);
    const team = { apiVersion: 'agentiso.dev/v1alpha1', kind: 'Team', metadata: { name: 'a', namespace: 'default' } };
    await client.create({ ...team, spec: { roles: [{ name: 'worker' }] } } as never);
    const place = { namespace: 'default', team: 'a' };
    const { requestId } = await book.request(as('a-worker'), { ...place, description: 'help', timeoutSeconds: 60 });
    expect(await book.claim(as('a-other'), { ...place, task: requestId })).toMatchObject({ claimed: true });
    expect(task(`a-${requestId}`)?.status).toMatchObject({ phase: 'Claimed', owner: 'a-other', createdBy: 'worker' });
  });

  it('gets the next number of its team, which is never given again', async () => {
    const { client, book, as, lookAt, readyAgent, task, boards, ctx } = setUp();
    await readyAgent('a-worker');
    const team = { apiVersion: 'agentiso.dev/v1alpha1', kind: 'Team', metadata: { name: 'a', namespace: 'default' } };
    await client.create({ ...team, spec: { roles: [{ name: 'worker' }] } } as never);
    await client.create<Task>(newTask('a-task-007'));
    await lookAt('a-task-007');
    const asked = { namespace: 'default', team: 'a', title: 't', command: 'true' };
    const made = await Promise.all([1, 2, 3].map(() => book.createTask(as('a-worker'), asked)));
    expect(made.map(({ name }) => name)).toEqual(['a-task-008', 'a-task-009', 'a-task-010']);
    await lookAt('a-task-010');
    expect(task('a-task-010')?.status?.createdBy).toBe('worker');
    await client.delete({ kind: 'Task', namespace: 'default', name: 'a-task-010' });
    await lookAt('a-task-010');
    expect(task('a-task-010')).toBeUndefined();
    // Also by a daemon that has never seen it.
    const { taskBoards } = await import('./boards.ts');
    const next = createTaskBook({ client, boards: taskBoards(client), events: ctx.events, canVerify: false });
    expect(await next.createTask(as('a-worker'), asked)).toEqual({ name: 'a-task-011' });
    expect(boards.known('default', 'a')?.highestNumber).toBe(10);
  });
});
