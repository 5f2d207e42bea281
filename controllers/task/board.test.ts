import { describe, expect, it } from 'vitest';
import { admission } from '#api/kinds.ts';
import type { KindObject } from '#api/meta.ts';
import type { Agent, Task } from '#api/types.ts';
import type { JsonObject } from '#lib/json.ts';
import { newAgent, newTask } from '../../test/support/controllers.ts';
import { Board } from './board.ts';
import { cardOf, turnOf } from './card.ts';
import { nextStep } from './decide.ts';

const FINALIZER = 'test/finalizer';
const NOW = new Date('2026-01-02T03:04:05Z');
let version = 0;

function task(name: string, spec: JsonObject = {}, status: JsonObject = {}): Task {
  const admitted = admission.admit(newTask(name, spec) as KindObject, undefined);
  const metadata = { ...admitted.metadata, uid: name, resourceVersion: String(++version), finalizers: [FINALIZER] };
  return { ...admitted, metadata, status } as Task;
}

function agent(name: string, spec: JsonObject = {}, phase = 'Ready', incarnation = 'run-1'): Agent {
  const isReady = phase === 'Ready';
  const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'False', reason: 'X', message: '', lastTransitionTime: '' }];
  const admitted = admission.admit(newAgent(name, spec) as KindObject, undefined);
  const metadata = { ...admitted.metadata, uid: name, resourceVersion: String(++version) };
  return { ...admitted, metadata, status: { phase, incarnation, conditions } } as Agent;
}

function setUp() {
  const board = new Board('a');
  const put = (name: string, spec: JsonObject = {}, status: JsonObject = {}) => [...board.put(cardOf(task(name, spec, status), FINALIZER))];
  const putAgent = (...given: Parameters<typeof agent>) => [...board.putAgent(agent(...given))];
  return { board, put, putAgent };
}

describe('a board', () => {
  it('wakes only the dependents of a task that succeeded, and those by its short name too', () => {
    const { put } = setUp();
    for (let index = 0; index < 100; index++) put(`a-other${index}`);
    put('a-one', {}, { phase: 'Running', owner: 'a-worker' });
    put('a-two', { dependsOn: ['one'] });
    put('a-three', { dependsOn: ['a-one'] });
    expect(put('a-one', {}, { phase: 'Running', owner: 'a-worker', reason: 'Interrupted' })).toEqual([]);
    expect(put('a-one', {}, { phase: 'Succeeded', owner: 'a-worker' }).sort()).toEqual(['a-three', 'a-two']);
  });

  it('wakes as many waiting tasks as there are places, by their turn', () => {
    const { put, putAgent } = setUp();
    putAgent('a-worker', { maxConcurrentTasks: 2 });
    for (const name of ['h1', 'h2']) put(name, {}, { phase: 'Running', owner: 'a-worker' });
    for (let index = 0; index < 100; index++) put(`t${String(index).padStart(3, '0')}`);
    put('urgent', { priority: 1 });
    expect(put('h1', {}, { phase: 'Succeeded', owner: 'a-worker' })).toEqual(['urgent']);
    expect(put('h2', {}, { phase: 'Succeeded', owner: 'a-worker' })).toEqual(['urgent', 't000']);
  });

  it('wakes a line of tasks as a whole only when what the team offers to it changes', () => {
    const { put, putAgent } = setUp();
    for (const name of ['t1', 't2', 't3']) put(name);
    put('elsewhere', { assignTo: 'other' });
    expect(putAgent('a-w1', {}, 'Starting')).toEqual(['t1', 't2', 't3']);
    expect(putAgent('a-w2', {}, 'Starting')).toEqual([]);
    expect(putAgent('a-w1', { maxConcurrentTasks: 1 })).toEqual(['t1', 't2', 't3']);
    expect(putAgent('a-w2', { maxConcurrentTasks: 1 })).toEqual(['t1', 't2']);
    expect(putAgent('a-w1', { maxConcurrentTasks: 1 }, 'Failed')).toEqual([]);
    expect(putAgent('a-w2', { maxConcurrentTasks: 1 }, 'Failed')).toEqual(['t1', 't2', 't3']);
  });

  it('gives out no more at once than the team may work on, and what ends makes room for whoever is next, whatever agent it had', () => {
    const { board, put, putAgent } = setUp();
    putAgent('a-w1', { maxConcurrentTasks: 4 });
    putAgent('a-w2', { maxConcurrentTasks: 4 });
    for (const name of ['h1', 'h2']) put(name, {}, { phase: 'Running', owner: 'a-w1' });
    for (const name of ['t1', 't2', 't3']) put(name, { assignTo: 'w2' });
    const [, second] = [...board.agents] as [Agent, Agent];
    const given = { now: NOW, canVerify: false };
    expect([...board.limitTo(2)]).toEqual(['t1', 't2', 't3']);
    expect([...board.limitTo(2)]).toEqual([]);
    expect(board.free(second)).toBe(0);
    expect(nextStep(task('t1', { assignTo: 'w2' }), board, given)).toMatchObject({ step: 'wait', reason: 'TeamBusy' });
    expect(put('h1', {}, { phase: 'Succeeded', owner: 'a-w1' })).toEqual(['t1']);
    expect(nextStep(task('t1', { assignTo: 'w2' }), board, given)).toMatchObject({ step: 'assign', agent: { metadata: { name: 'a-w2' } } });
    // Its turn comes later, and there is one place.
    expect(nextStep(task('t2', { assignTo: 'w2' }), board, given)).toMatchObject({ step: 'wait', reason: 'Queued' });
    expect([...board.limitTo(undefined)]).toEqual(['t1', 't2', 't3']);
    expect(board.free(second)).toBe(4);
  });

  it('wakes what an agent holds when that agent begins another run, and not at its other changes', () => {
    const { put, putAgent } = setUp();
    putAgent('a-worker');
    put('held', {}, { phase: 'Running', owner: 'a-worker' });
    expect(putAgent('a-worker')).toEqual([]);
    expect(putAgent('a-worker', {}, 'Starting', 'run-1')).toEqual(['held']);
    expect(putAgent('a-worker', {}, 'Ready', 'run-2')).toEqual(['held']);
  });

  it('wakes those behind a task that leaves the line without taking a place', () => {
    const { put, putAgent } = setUp();
    putAgent('a-worker', { maxConcurrentTasks: 1 });
    put('first');
    put('second');
    expect(put('first', { cancelled: true })).toEqual(['second']);
  });

  it('counts a claim before it is stored, once when it is, and not when it was not', () => {
    const { board, put, putAgent } = setUp();
    putAgent('a-worker', { maxConcurrentTasks: 1 });
    const [worker] = [...board.agents] as [Agent];
    const one = task('one');
    board.put(cardOf(one, FINALIZER));
    board.claim(turnOf(one), worker, 1);
    expect(board.free(worker)).toBe(0);
    // Somebody changed the title meanwhile: the claim is still on its way.
    put('one', { title: 'new' });
    expect(board.free(worker)).toBe(0);
    put('one', {}, { phase: 'Claimed', owner: 'a-worker', attempt: 1 });
    expect(board.free(worker)).toBe(0);
    put('one', {}, { phase: 'Pending', attempt: 1 });
    expect(board.free(worker)).toBe(1);
    board.claim(turnOf(one), worker, 2);
    board.unclaim('one');
    expect(board.free(worker)).toBe(1);
  });

  it('lets what touches files in conflict start last, one at a time, and wakes it when it may', () => {
    const { board, put, putAgent } = setUp();
    const clash = { conflicts: [{ agent: 'two', files: ['src/a.ts'] }] };
    putAgent('a-one', { maxConcurrentTasks: 4 });
    put('t1', { files: ['src/**'], priority: 1 });
    put('t2', { files: ['src/a.ts'] });
    put('t3', { files: ['docs/'] });
    const worker = agent('a-one', { maxConcurrentTasks: 4 });
    const tell = (more: object) => {
      const { metadata } = agent('a-one');
      return [...board.putAgent({ ...worker, metadata, status: { ...worker.status, ...more } } as Agent)].sort();
    };
    expect(tell(clash)).toEqual(['t1', 't2', 't3']);
    const step = (name: string, spec: JsonObject) => {
      const decision = nextStep(task(name, spec), board, { now: NOW, canVerify: false });
      return decision.step === 'wait' ? decision.reason : decision.step;
    };
    const t1 = { files: ['src/**'], priority: 1 };
    expect([step('t1', t1), step('t2', { files: ['src/a.ts'] }), step('t3', { files: ['docs/'] })]).toEqual([
      'FilesInConflict',
      'FilesInConflict',
      'assign',
    ]);
    expect(put('t3', {}, { phase: 'Running', owner: 'a-one', attempt: 1 })).toEqual([]);
    expect(put('t3', {}, { phase: 'Succeeded', attempt: 1 })).toEqual(['t1']);
    expect([step('t1', t1), step('t2', { files: ['src/a.ts'] })]).toEqual(['assign', 'FilesInConflict']);
    put('t1', t1, { phase: 'Running', owner: 'a-one', attempt: 1 });
    expect(step('t2', { files: ['src/a.ts'] })).toBe('FilesInConflict');
    // Others have come meanwhile that nobody can do now: they keep nothing waiting.
    put('t4', { assignTo: 'nobody' });
    expect(put('t1', t1, { phase: 'Succeeded', attempt: 1 })).toEqual(['t2']);
    expect(tell(clash)).toEqual(['t2']);
    put('t5', { priority: 1 });
    expect(tell({})).toContain('t2');
    expect(step('t2', { files: ['src/a.ts'] })).toBe('assign');
  });

  it('takes no older version of an object for the present one, and forgets what is gone', () => {
    const { board, putAgent } = setUp();
    putAgent('a-worker', { maxConcurrentTasks: 1 });
    const [worker] = [...board.agents] as [Agent];
    const old = task('one');
    board.put(cardOf(task('one', {}, { phase: 'Running', owner: 'a-worker', attempt: 1 }), FINALIZER));
    board.put(cardOf(old, FINALIZER));
    expect(board.free(worker)).toBe(0);
    board.remove('one', 'another uid');
    expect(board.has('one')).toBe(true);
    board.remove('one', 'one');
    expect([board.free(worker), board.has('one')]).toEqual([1, false]);
  });

  it('sees a circle that an edit makes, and its end', () => {
    const { board, put } = setUp();
    put('x', { dependsOn: ['y'] });
    put('y');
    expect(board.leadsIntoCircle('x')).toBe(false);
    put('y', { dependsOn: ['x'] });
    expect([board.leadsIntoCircle('x'), board.leadsIntoCircle('y')]).toEqual([true, true]);
    put('y', { dependsOn: ['x'] }, { phase: 'Succeeded' });
    expect(board.leadsIntoCircle('x')).toBe(false);
  });

  it('looks at a chain of thousands without walking it from every task', () => {
    const { board, put, putAgent } = setUp();
    putAgent('a-worker');
    const length = 5_000;
    for (let index = 0; index < length; index++) put(`t${index}`, { dependsOn: index === 0 ? [] : [`t${index - 1}`] });
    const steps = [1, 2_500, length - 1].map((index) =>
      nextStep(task(`t${index}`, { dependsOn: [`t${index - 1}`] }), board, { now: NOW, canVerify: false }),
    );
    expect(steps.map(({ step }) => step)).toEqual(['block', 'block', 'block']);
    expect(put('t0', {}, { phase: 'Succeeded' })).toEqual(['t1']);
  });

  it('keeps what is open for a claim apart from what is handed out, and shows it to those it is for', () => {
    const { board, put, putAgent } = setUp();
    putAgent('a-worker', { maxConcurrentTasks: 1 });
    putAgent('a-able', { skills: ['sql'] });
    const [worker, able] = [...board.agents] as [Agent, Agent];
    put('t1', { prompt: 'x' });
    put('t2', { prompt: 'x', skills: ['sql'], priority: 1 });
    put('t3', { prompt: 'x', dependsOn: ['t1'] });
    const last = task('z');
    board.put(cardOf(last, FINALIZER));
    expect(board.ahead(turnOf(last), [worker, able])).toBe(0);
    const openTo = (agent: Agent | undefined, limit = 9) => board.openTo(agent, limit).map(({ name }) => name);
    expect([openTo(worker), openTo(able), openTo(undefined), openTo(able, 1)]).toEqual([['t1'], ['t2', 't1'], ['t2', 't1'], ['t2']]);
    put('t1', { prompt: 'x' }, { phase: 'Succeeded' });
    expect(openTo(worker)).toEqual(['t3']);
    // What nobody could claim says so, and hears when somebody comes.
    put('t4', { prompt: 'x', skills: ['go'] });
    expect(putAgent('a-able', { skills: ['sql', 'go'] })).toContain('t4');
  });

  it('lets one claim a task at a time, and whoever comes second waits for what becomes of it', async () => {
    const { board, put, putAgent } = setUp();
    putAgent('a-worker');
    const [worker] = [...board.agents] as [Agent];
    const one = task('one', { prompt: 'x' });
    board.put(cardOf(one, FINALIZER));
    expect(board.claim(turnOf(one), worker, 1, 'book')).toBe(true);
    expect(board.claim(turnOf(one), worker, 1)).toBe(false);
    board.unclaim('one');
    expect([board.isBeingClaimed('one'), board.openTo(worker, 9)]).toEqual([true, []]);
    let isSettled = false;
    const settled = board.claimSettled('one').then(() => {
      isSettled = true;
    });
    await Promise.resolve();
    expect(isSettled).toBe(false);
    put('one', { prompt: 'x' }, { phase: 'Claimed', owner: 'a-worker', attempt: 1 });
    await settled;
    // Whoever has read the task before that is late.
    expect(board.claim(turnOf(one), worker, 1)).toBe(false);
    expect(board.claim(turnOf(one), worker, 2, 'book')).toBe(true);
    board.unclaim('one', 'book');
    expect(board.isBeingClaimed('one')).toBe(false);
  });

  it('claims, lists and ends tasks among ten thousand without looking at the others', () => {
    const { board, putAgent } = setUp();
    putAgent('a-worker', { maxConcurrentTasks: 4 });
    const [worker] = [...board.agents] as [Agent];
    let reads = 0;
    const counted = (card: ReturnType<typeof cardOf>) =>
      new Proxy(card, {
        get: (target, field) => {
          reads++;
          return Reflect.get(target, field);
        },
      });
    const names = Array.from({ length: 10_000 }, (_, index) => `t${String(index).padStart(5, '0')}`);
    const tasks = names.map((name) => task(name, { prompt: 'x' }));
    for (const each of tasks) board.put(counted(cardOf(each, FINALIZER)));
    reads = 0;
    for (const each of tasks.slice(0, 100)) {
      board.openTo(worker, 10);
      board.claim(turnOf(each), worker, 1, 'book');
      board.put(counted(cardOf({ ...each, status: { phase: 'Claimed', owner: 'a-worker', attempt: 1 } }, FINALIZER)));
      board.put(counted(cardOf({ ...each, status: { phase: 'Succeeded', attempt: 1 } }, FINALIZER)));
    }
    // Some dozens for each, for sorting and for the search in the line; a look at all of them would be a million.
    expect(reads).toBeLessThan(100 * 500);
  });
});
