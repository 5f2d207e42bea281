import { expect, it } from 'vitest';
import type { Agent, Task } from '#api/types.ts';
import { newAgent, newTask } from '../../test/support/controllers.ts';
import { MOST_OF_BACKEND, MOST_RUNS, PromptRuns } from './prompt-runs.ts';

const agentOf = (name: string, backend: string) => newAgent(name, { backend }) as Agent;
const taskOf = (uid: string, status: object = {}, spec: object = { prompt: 'x' }): Task => {
  const task = newTask(`a-${uid}`, { ...spec }) as Task;
  return {
    ...task,
    metadata: { ...task.metadata, uid },
    status: { phase: 'Running', claim: 'Assigned', owner: 'a-one', ...status } as NonNullable<Task['status']>,
  };
};

it('lets three of a backend run, and others beside them', () => {
  const runs = new PromptRuns();
  const codex = agentOf('a-one', 'codex');
  for (let index = 0; index < MOST_OF_BACKEND; index += 1) {
    expect(runs.whyNot(codex)).toBeUndefined();
    runs.claim(taskOf(`t${index}`), codex);
  }
  expect(runs.whyNot(codex)).toBe('3 prompts are being worked on by codex already');
  expect(runs.whyNot(agentOf('a-two', 'qwen'))).toBeUndefined();
});

it('lets ten run in all, and wakes those that wait when one has ended', () => {
  const runs = new PromptRuns();
  const woken: string[] = [];
  runs.wake(({ name }) => woken.push(name));
  for (let index = 0; index < MOST_RUNS; index += 1) runs.claim(taskOf(`t${index}`), agentOf(`a-${index}`, `backend-${index}`));
  const other = agentOf('a-other', 'other');
  expect(runs.whyNot(other)).toBe('10 prompts are being worked on already');
  runs.wait(taskOf('late'));
  runs.onTask(taskOf('t0', { phase: 'Pending', attempt: 0 }), 'MODIFIED');
  runs.onTask(taskOf('t0', { phase: 'Running', owner: 'a-0', attempt: 1 }), 'MODIFIED');
  expect([runs.whyNot(other) === undefined, woken]).toEqual([false, []]);
  runs.onTask(taskOf('t0', { phase: 'Succeeded', attempt: 1 }), 'MODIFIED');
  expect([runs.whyNot(other), woken]).toEqual([undefined, ['a-late']]);
  runs.claim(taskOf('late'), other);
  runs.onTask(taskOf('t1'), 'DELETED');
  expect(woken).toEqual(['a-late']);
});

it('counts what it sees of an earlier daemon: no commands, nothing that was pulled, nothing that is verified', () => {
  const runs = new PromptRuns();
  runs.onAgent(agentOf('a-one', 'codex'));
  for (const uid of ['x', 'y', 'z']) runs.onTask(taskOf(uid, {}, { command: 'true' }), 'ADDED');
  for (const uid of ['p', 'q', 'r']) runs.onTask(taskOf(uid, { claim: 'Pulled' }), 'ADDED');
  for (const uid of ['u', 'v', 'w']) runs.onTask(taskOf(uid, { reason: 'Verifying' }), 'ADDED');
  expect(runs.whyNot(agentOf('a-one', 'codex'))).toBeUndefined();
  for (const uid of ['1', '2', '3']) runs.onTask(taskOf(uid), 'ADDED');
  expect(runs.whyNot(agentOf('a-two', 'codex'))).toBeDefined();
});
