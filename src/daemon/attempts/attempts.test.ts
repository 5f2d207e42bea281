import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Agent, Task } from '#api/types.ts';
import { silentLogger } from '#lib/log.ts';
import type { Envelope } from '#mail/mail.ts';
import { openMail } from '#mail/open-mail.ts';
import type { AttemptKey, TaskResult } from '#protocol/control.ts';
import { taskAssignment } from '#protocol/relay.ts';
import { bench, newAgent, newTask } from '../../../test/support/controllers.ts';
import { fakeSessions } from '../../../test/support/fake-sessions.ts';
import { tellGuest } from '../agents/tell-guest.ts';
import { toOutcome } from './attempt-messages.ts';
import { type AttemptsOptions, openAttempts } from './attempts.ts';

const cleanUps: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

const key = ({ taskUid, attempt }: AttemptKey) => `${taskUid}/${attempt}`;

/** A guest by the book: what it has seen starts once, results stay until they are acknowledged, what was revoked never starts. */
function guest() {
  const seen = new Set<string>();
  const started: string[] = [];
  const revoked = new Set<string>();
  const running = new Map<string, AttemptKey>();
  const results = new Map<string, TaskResult>();
  return {
    started,
    running,
    results,
    revoked,
    polls: 0,
    take(messages: readonly Envelope[]) {
      for (const message of messages) {
        const assignment = taskAssignment(JSON.parse(message.content), 'assignment');
        if (seen.has(key(assignment)) || revoked.has(key(assignment))) continue;
        seen.add(key(assignment));
        started.push(key(assignment));
        running.set(key(assignment), { taskUid: assignment.taskUid, attempt: assignment.attempt });
      }
    },
    end(task: Task, more: Partial<TaskResult> = {}) {
      const { uid: taskUid, name: taskName } = task.metadata;
      const { attempt = 0, fencingToken = 0 } = task.status ?? {};
      const result = { taskUid, taskName, attempt, fencingToken, ...NOTHING, ...more };
      running.delete(key(result));
      results.set(key(result), result);
    },
  };
}

const NOTHING = {
  isLost: false,
  exitCode: 0,
  stdout: '',
  stderr: '',
  stdoutTruncated: false,
  stderrTruncated: false,
  timedOut: false,
  elapsedMs: 12,
};

async function setUp() {
  const world = bench();
  const directory = await mkdtemp(join(tmpdir(), 'agentiso-attempts-'));
  cleanUps.push(() => rm(directory, { recursive: true, force: true }));
  const sessions = fakeSessions(() => 1_000);
  const mail = openMail({ directory, log: silentLogger, onAppended: (appended) => tellGuest(sessions, appended) });
  cleanUps.push(() => mail.close());
  const open = async (more: Partial<AttemptsOptions> = {}) => {
    const attempts = await openAttempts({ client: world.client, mail, sessions, log: silentLogger, ...more });
    cleanUps.push(() => attempts.close());
    return attempts;
  };
  const created = await world.client.create<Agent>(newAgent('a-worker'));
  const agent = await world.client.updateStatus<Agent>({ ...created, status: { phase: 'Ready', incarnation: 'run-1' } });
  const { uid } = agent.metadata;
  const there = guest();
  sessions.answers.set('pollResults', (params) => {
    there.polls++;
    const results = [...there.results.values()].slice(0, (params as { limit: number }).limit);
    return { results, pendingTasks: 0, running: [...there.running.values()] };
  });
  sessions.answers.set('ackResults', (params) => {
    for (const each of (params as { keys: AttemptKey[] }).keys) there.results.delete(key(each));
    return {};
  });
  sessions.answers.set('revokeTask', (params) => {
    const revoked = key(params as AttemptKey);
    there.revoked.add(revoked);
    there.results.delete(revoked);
    return { wasRunning: there.running.delete(revoked) };
  });
  const claimed = async (name: string, spec = {}) => {
    const task = await world.client.create<Task>(newTask(name, spec));
    return world.client.updateStatus<Task>({ ...task, status: { phase: 'Running', owner: 'a-worker', attempt: 1, fencingToken: 1 } });
  };
  /** What the guest would get if it asked now. */
  const delivered = async () => (await mail.open(uid)).read({ after: 0, limit: 100 });
  const attempts = await open();
  const woken: string[] = [];
  attempts.wake(({ name }) => void woken.push(name));
  return { ...world, mail, sessions, attempts, open, agent, uid, there, claimed, delivered, woken };
}

const report = { pendingResults: 1 };

describe('an assignment', () => {
  it('is in the mailbox once, however often it is handed over, also by the next daemon', async () => {
    const { attempts, open, agent, claimed, delivered, there } = await setUp();
    const task = await claimed('a-one', { command: 'make', env: { A: 'b' }, timeoutSeconds: 5 });
    await attempts.assign(agent, task);
    await attempts.assign(agent, task);
    await (await open()).assign(agent, task);
    const messages = await delivered();
    expect(messages).toMatchObject([
      { seq: 1, namespace: 'default', team: 'a', from: 'system', to: 'worker', message_type: 'task_assignment' },
    ]);
    expect(JSON.parse(messages[0]?.content ?? '')).toEqual({
      taskUid: task.metadata.uid,
      taskName: 'a-one',
      attempt: 1,
      fencingToken: 1,
      command: 'make',
      timeoutMs: 5_000,
      workdir: '/workspace',
      env: { A: 'b', AGENTISO_TASK: 'a-one', AGENTISO_ATTEMPT: '1' },
    });
    there.take(messages);
    expect(there.started).toEqual([`${task.metadata.uid}/1`]);
  });

  it('is hinted to a guest that is connected', async () => {
    const { attempts, agent, claimed, sessions, uid } = await setUp();
    const hints: number[] = [];
    sessions.ensure(uid, 'run-1').hint = (nextSeq) => void hints.push(nextSeq);
    await attempts.assign(agent, await claimed('a-one'));
    expect(hints).toEqual([2]);
  });

  it('that was revoked before it was fetched is never handed out', async () => {
    const { attempts, agent, claimed, delivered } = await setUp();
    const task = await claimed('a-one');
    await attempts.assign(agent, task);
    expect(await attempts.revoke(agent.metadata.uid, task.metadata.uid, 1)).toBe('unreachable');
    expect(await delivered()).toEqual([]);
  });
});

describe('a result', () => {
  it('is fetched when the guest reports it, wakes its task, and is offered until it is accepted', async () => {
    const { attempts, agent, uid, claimed, delivered, there, sessions, woken, mail } = await setUp();
    const task = await claimed('a-one');
    await attempts.assign(agent, task);
    sessions.ensure(uid, 'run-1');
    const [message] = await delivered();
    there.take(await delivered());
    there.end(task, { stdout: 'hi\n', ...(message && { sourceMessageId: message.message_id }) });
    sessions.beat(uid, report);
    await vi.waitFor(() => expect(woken).toEqual(['a-one']));
    const [outcome] = attempts.outcomes(task.metadata.uid);
    expect(outcome).toEqual({
      agentUid: uid,
      taskUid: task.metadata.uid,
      attempt: 1,
      fencingToken: 1,
      timedOut: false,
      result: { exitCode: 0, stdout: 'hi\n', stderr: '', truncated: false, elapsedSeconds: 0.012, sourceMessageId: message?.message_id },
    });
    sessions.beat(uid, report);
    await vi.waitFor(() => expect(there.polls).toBe(2));
    expect([woken, there.results.size]).toEqual([['a-one'], 1]);
    if (outcome) await attempts.accept(outcome);
    expect([attempts.outcomes(task.metadata.uid), there.results.size]).toEqual([[], 0]);
    expect((await mail.open(uid)).state.ackedSeq).toBe(1);
  });

  it('that comes with a heartbeat is not asked for, and taken once however often that heartbeat is looked at', async () => {
    const { attempts, uid, claimed, there, sessions, woken } = await setUp();
    sessions.ensure(uid, 'run-1');
    sessions.beat(uid);
    await vi.waitFor(() => expect(there.polls).toBe(1));
    const task = await claimed('a-one');
    there.end(task);
    sessions.beat(uid, { ...report, results: [...there.results.values()] });
    await vi.waitFor(() => expect(woken).toEqual(['a-one']));
    for (const outcome of attempts.outcomes(task.metadata.uid)) await attempts.accept(outcome);
    await vi.waitFor(() => expect(there.results.size).toBe(0));
    sessions.set(uid, {});
    sessions.beat(uid, { results: [] });
    expect([woken, attempts.outcomes(task.metadata.uid), there.polls]).toEqual([['a-one'], [], 1]);
  });

  it('that came with a heartbeat is told again to be accepted when the guest did not answer', async () => {
    const { attempts, uid, claimed, there, sessions, woken } = await setUp();
    const session = sessions.ensure(uid, 'run-1');
    sessions.beat(uid);
    await vi.waitFor(() => expect(there.polls).toBe(1));
    session.accepted = () => Promise.reject(new Error('no answer'));
    const task = await claimed('a-one');
    there.end(task);
    sessions.beat(uid, { ...report, results: [...there.results.values()] });
    await vi.waitFor(() => expect(woken).toEqual(['a-one']));
    for (const outcome of attempts.outcomes(task.metadata.uid)) await attempts.accept(outcome);
    await vi.waitFor(() => expect(there.results.size).toBe(0), { timeout: 10_000 });
    expect(woken).toEqual(['a-one']);
  });

  it('is accepted while the guest is away, and the guest is told when it is back', async () => {
    const { attempts, agent, uid, claimed, there, sessions, woken } = await setUp();
    const task = await claimed('a-one');
    await attempts.assign(agent, task);
    sessions.ensure(uid, 'run-1');
    there.end(task);
    sessions.beat(uid, report);
    await vi.waitFor(() => expect(woken).toHaveLength(1));
    sessions.set(uid, { isControlOpen: false });
    const [outcome] = attempts.outcomes(task.metadata.uid);
    if (outcome) await attempts.accept(outcome);
    expect(there.results.size).toBe(1);
    sessions.set(uid, { isControlOpen: true });
    await vi.waitFor(() => expect(there.results.size).toBe(0));
    expect([woken.length, attempts.outcomes(task.metadata.uid)]).toEqual([1, []]);
  });

  it('that was the last one costs the guest no further question', async () => {
    const { attempts, uid, claimed, there, sessions, woken } = await setUp();
    sessions.ensure(uid, 'run-1');
    sessions.beat(uid);
    await vi.waitFor(() => expect(there.polls).toBe(1));
    for (const name of ['a-one', 'a-two']) {
      const task = await claimed(name);
      there.end(task);
      sessions.beat(uid, report);
      await vi.waitFor(() => expect(woken).toContain(name));
      for (const outcome of attempts.outcomes(task.metadata.uid)) await attempts.accept(outcome);
    }
    expect([there.results.size, there.polls]).toEqual([0, 3]);
  });

  it('of more than one poll comes with the next, when the first ones are accepted', async () => {
    const { attempts, uid, claimed, there, sessions, woken } = await setUp();
    const names = Array.from({ length: 45 }, (_, index) => `a-t${index}`);
    const tasks = await Promise.all(names.map((name) => claimed(name)));
    for (const task of tasks) there.end(task);
    sessions.ensure(uid, 'run-1');
    sessions.beat(uid, report);
    const accepted = new Set<string>();
    while (accepted.size < tasks.length) {
      await vi.waitFor(() => expect(woken.length).toBeGreaterThan(accepted.size));
      for (const task of tasks) {
        for (const outcome of attempts.outcomes(task.metadata.uid)) {
          await attempts.accept(outcome);
          accepted.add(task.metadata.name);
        }
      }
    }
    expect([[...new Set(woken)].sort(), there.results.size]).toEqual([names.sort(), 0]);
  });

  it('of a task that is gone, or of another of the same name, is acknowledged and dropped', async () => {
    const { attempts, uid, claimed, there, sessions, woken, client } = await setUp();
    const gone = await claimed('a-one');
    await client.delete({ kind: 'Task', namespace: 'default', name: 'a-one' });
    await claimed('a-one');
    there.end(gone);
    there.end(gone, { taskUid: 'unknown', taskName: 'unknown', exitCode: -2 });
    sessions.ensure(uid, 'run-1');
    sessions.beat(uid, report);
    await vi.waitFor(() => expect(there.results.size).toBe(0));
    expect([woken, attempts.outcomes(gone.metadata.uid)]).toEqual([[], []]);
  });

  it('that is lost has no result; long output is cut in the middle', () => {
    const reported = { taskUid: 'u', taskName: 't', attempt: 2, fencingToken: 3, ...NOTHING };
    expect(toOutcome('agent', { ...reported, isLost: true })).toEqual({ agentUid: 'agent', taskUid: 'u', attempt: 2, fencingToken: 3 });
    const { result } = toOutcome('agent', { ...reported, stdout: 'x'.repeat(200_000) });
    expect([result?.truncated, result?.stdout.length]).toEqual([true, 65_536 + '\n... (134464 of 200000 bytes left out)\n'.length]);
  });
});

describe('revoking', () => {
  it('ends what runs, and drops a result that nobody has taken yet', async () => {
    const { attempts, agent, uid, claimed, delivered, there, sessions, woken } = await setUp();
    const task = await claimed('a-one');
    await attempts.assign(agent, task);
    sessions.ensure(uid, 'run-1');
    there.take(await delivered());
    expect(await attempts.revoke(uid, task.metadata.uid, 1)).toBe('ended');
    expect([there.running.size, [...there.revoked]]).toEqual([0, [`${task.metadata.uid}/1`]]);
    const other = await claimed('a-two');
    there.end(other);
    sessions.beat(uid, report);
    await vi.waitFor(() => expect(woken).toEqual(['a-two']));
    await attempts.revoke(uid, other.metadata.uid, 1);
    expect(attempts.outcomes(other.metadata.uid)).toEqual([]);
  });

  it('reaches a guest that was away when it is back, before its results are asked for', async () => {
    const { attempts, agent, uid, claimed, delivered, there, sessions, woken } = await setUp();
    const task = await claimed('a-one');
    await attempts.assign(agent, task);
    sessions.ensure(uid, 'run-1');
    there.take(await delivered());
    sessions.set(uid, { isControlOpen: false });
    expect(await attempts.revoke(uid, task.metadata.uid, 1)).toBe('unreachable');
    there.end(task);
    sessions.set(uid, { isControlOpen: true });
    await vi.waitFor(() => expect([...there.revoked]).toEqual([`${task.metadata.uid}/1`]));
    await vi.waitFor(() => expect(there.polls).toBeGreaterThan(0));
    expect(woken).toEqual([]);
    expect(await attempts.revoke(uid, task.metadata.uid, 1)).toBe('ended');
  });

  it('does not wait for a guest that does not answer', async () => {
    const { attempts, uid, claimed, sessions } = await setUp();
    const task = await claimed('a-one');
    sessions.ensure(uid, 'run-1');
    let answer = (_value: unknown) => {};
    sessions.answers.set('revokeTask', () => new Promise((resolve) => (answer = resolve)));
    expect(await attempts.revoke(uid, task.metadata.uid, 1)).toBe('unreachable');
    answer({ wasRunning: true });
    sessions.answers.set('revokeTask', () => ({ wasRunning: false }));
    await vi.waitFor(async () => expect(await attempts.revoke(uid, task.metadata.uid, 1)).toBe('ended'));
  });

  it('happens by itself to what a guest runs although its task counts on another attempt, or is gone', async () => {
    const { uid, claimed, there, sessions } = await setUp();
    const task = await claimed('a-one');
    const { uid: taskUid } = task.metadata;
    for (const each of [
      { taskUid, attempt: 0 },
      { taskUid, attempt: 1 },
      { taskUid: 'gone', attempt: 4 },
    ]) {
      there.running.set(key(each), each);
    }
    sessions.ensure(uid, 'run-1');
    sessions.set(uid, { isControlOpen: true });
    await vi.waitFor(() => expect([...there.running.keys()]).toEqual([`${taskUid}/1`]));
  });
});

it('remembers when a heartbeat last named an attempt, also when the session is gone', async () => {
  const { attempts, agent, uid, claimed, sessions } = await setUp();
  const task = await claimed('a-one');
  const { uid: taskUid } = task.metadata;
  await attempts.assign(agent, task);
  expect(attempts.lastSeenMs(taskUid, 1)).toBeUndefined();
  sessions.ensure(uid, 'run-1');
  sessions.beat(uid, { runningTasks: [{ taskUid, attempt: 1 }] });
  expect([attempts.lastSeenMs(taskUid, 1), attempts.lastSeenMs(taskUid, 2)]).toEqual([1_000, undefined]);
  sessions.close(uid, 'over');
  expect(attempts.lastSeenMs(taskUid, 1)).toBe(1_000);
});

it('knows when a run of an agent last gave a sign of life, and of no other run', async () => {
  const { attempts, uid, sessions } = await setUp();
  expect(attempts.agentSeenMs(uid, 'run-1')).toBeUndefined();
  sessions.ensure(uid, 'run-1');
  expect(attempts.agentSeenMs(uid, 'run-1')).toBeUndefined();
  sessions.beat(uid);
  expect([attempts.agentSeenMs(uid, 'run-1'), attempts.agentSeenMs(uid, 'run-2')]).toEqual([1_000, undefined]);
});

it('offers a result when its whole outputs are kept, tries again when they could not be, and counts the attempt as alive meanwhile', async () => {
  const { attempts, claimed, sessions, uid, there, open } = await setUp();
  attempts.close();
  const task = await claimed('a-one');
  const { uid: taskUid } = task.metadata;
  const calls: ((kept: { name: string; path: string; sizeBytes: number }[] | Error) => void)[] = [];
  const keep = () =>
    new Promise<{ name: string; path: string; sizeBytes: number }[]>((resolve, reject) =>
      calls.push((answer) => (answer instanceof Error ? reject(answer) : resolve(answer))),
    );
  const next = await open({ artifacts: { keep } });
  sessions.ensure(uid, 'run-1');
  there.end(task, { artifacts: [{ name: 'stdout', sizeBytes: 3 }] });
  sessions.beat(uid, report);
  await vi.waitFor(() => expect(calls).toHaveLength(1));
  expect(next.outcomes(taskUid)).toEqual([]);
  expect(next.lastSeenMs(taskUid, 1)).toBeGreaterThan(0);
  calls[0]?.(new Error('the disk is full'));
  await vi.waitFor(() => expect(calls).toHaveLength(2), { timeout: 10_000 });
  const kept = [{ name: 'stdout.log', path: 'default/a/a-one/1/stdout.log', sizeBytes: 3 }];
  calls[1]?.(kept);
  await vi.waitFor(() => expect(next.outcomes(taskUid)[0]?.result?.artifacts).toEqual(kept));
  expect(next.lastSeenMs(taskUid, 1)).toBeUndefined();
});

it('knows which runs of agents the daemon before has stopped', async () => {
  const { client, agent, open } = await setUp();
  const condition = {
    type: 'WorkspaceReady',
    status: 'False' as const,
    reason: 'DaemonStopped',
    message: '',
    lastTransitionTime: '2026-01-02T03:04:05Z',
  };
  await client.updateStatus<Agent>({ ...agent, status: { ...agent.status, conditions: [condition] } });
  const next = await open();
  expect([next.wasStopped('run-1'), next.wasStopped('run-2')]).toEqual([true, false]);
});
