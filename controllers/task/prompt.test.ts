import { describe, expect, it } from 'vitest';
import type { Task } from '#api/types.ts';
import { conditionOf, newTask } from '../../test/support/controllers.ts';
import type { PromptEnd } from './attempts.ts';
import { OK, setUp } from './controller.fixture.ts';

const DONE = { ...OK, stopReason: 'end_turn', evidence: { toolCalls: 1, filesChanged: 1 } };
const FAILED = { ...OK, exitCode: 1 };
const failed = (code: string, more: Partial<PromptEnd> = {}): { readonly prompt: PromptEnd } => ({
  prompt: { notes: [], error: { code, message: 'words' }, ...more },
});

async function prompted(spec: Parameters<typeof newTask>[1] = {}, backends: Readonly<Record<string, string>> = { 'a-worker': 'codex' }) {
  const world = setUp();
  for (const [name, backend] of Object.entries(backends)) await world.readyAgent(name, { backend });
  await world.client.create<Task>(newTask('a-one', { prompt: 'do it', ...spec }));
  await world.look();
  await world.look();
  const again = async (afterMs: number) => {
    world.pass(afterMs);
    for (let round = 0; round < 3; round += 1) await world.look();
    return world.attempts.runs.at(-1);
  };
  return { ...world, run: world.attempts.runs[0], again };
}

describe('a prompt', () => {
  it('is handed to an agent whose backend takes prompts, and to no other', async () => {
    const { run, task } = await prompted({}, { 'a-shell': 'shell', 'a-worker': 'codex' });
    expect([run?.agent.metadata.name, task()?.status?.claim]).toEqual(['a-worker', 'Assigned']);
  });

  it('waits to be claimed where all are shells, until one comes that is none', async () => {
    const { task, attempts, readyAgent, tell, look, book, as } = await prompted({}, { 'a-shell': 'shell' });
    expect(task()?.status).toMatchObject({ phase: 'Pending', reason: 'OpenForClaim' });
    expect(book.openRequests('default', 'a', as('a-shell'), 10).map(({ request_id }) => request_id)).toEqual(['one']);
    await readyAgent('a-worker', { backend: 'codex' });
    expect(tell()).toContain('a-one');
    expect(book.openRequests('default', 'a', as('a-shell'), 10)).toEqual([]);
    await look();
    await look();
    expect(attempts.runs.map(({ agent }) => agent.metadata.name)).toEqual(['a-worker']);
  });

  it('that is done has succeeded, with what its agent used; what was refused is an event', async () => {
    const { run, look, task, ctx } = await prompted();
    const usage = { inputTokens: 1, outputTokens: 2 };
    run?.end({ ...DONE, usage }, { prompt: { notes: [{ reason: 'PermissionDenied', message: 'rm: no' }] } });
    await look();
    expect(task()?.status).toMatchObject({ phase: 'Succeeded', result: { stopReason: 'end_turn', usage } });
    expect(ctx.recorded.map(({ reason }) => reason)).toContain('PermissionDenied');
  });

  it.each(['NoEvidence', 'AgentCrashed'])('that ended with %s has failed, and is tried again after a while', async (code) => {
    const { run, again, look, task } = await prompted();
    run?.end(FAILED, failed(code));
    await look();
    expect(task()?.status).toMatchObject({ phase: 'Pending', reason: code === 'NoEvidence' ? code : 'AttemptFailed', failures: 1 });
    expect((await again(1_000))?.attempt).toBe(2);
  });

  it.each(['BackendFailed', 'McpUnavailable'])('whose agent cannot work at all (%s) has failed for good', async (code) => {
    const { run, look, task } = await prompted();
    run?.end(FAILED, failed(code));
    await look();
    expect(task()?.status).toMatchObject({ phase: 'Failed', reason: code });
  });

  it('whose provider wants no more waits as long as it says, and loses no attempt', async () => {
    const { run, again, look, task, ctx } = await prompted({ maxAttempts: 1 });
    const retryAt = new Date(ctx.now().getTime() + 600_000).toISOString();
    run?.end(FAILED, failed('RateLimited', { retryAt }));
    await look();
    expect(task()?.status).toMatchObject({ phase: 'Pending', reason: 'RateLimited', notBefore: retryAt });
    expect(task()?.status?.failures ?? 0).toBe(0);
    expect((await again(599_000))?.attempt).toBe(1);
    expect(task()?.status?.reason).toBe('RateLimited');
    expect((await again(1_000))?.attempt).toBe(2);
    expect(task()?.status?.notBefore).toBeUndefined();
  });

  it('that gets nowhere goes to another agent, and then to a person', async () => {
    const { run, again, look, task, notices } = await prompted({ maxAttempts: 5 }, { 'a-worker': 'codex', 'a-other': 'qwen' });
    run?.end(FAILED, failed('NoProgress'));
    await look();
    expect(task()?.status).toMatchObject({ phase: 'Pending', reason: 'NoProgress' });
    const second = await again(1_000);
    expect(second?.agent.metadata.name).not.toBe(run?.agent.metadata.name);
    second?.end(FAILED, failed('NoProgress'));
    await look();
    await look();
    expect(task()?.status).toMatchObject({ phase: 'Failed', reason: 'NoProgress' });
    expect(notices.news()).toEqual([expect.stringMatching(/^request orchestrator: Task one has got nowhere/)]);
  });

  it('waits while as many run as may', async () => {
    const { client, lookAt, attempts, run, task, readyAgent } = await prompted({}, { 'a-worker': 'codex', 'a-other': 'codex' });
    await readyAgent('a-third', { backend: 'codex' });
    for (const name of ['a-two', 'a-three', 'a-four']) {
      await client.create<Task>(newTask(name, { prompt: 'do it' }));
      await lookAt(name);
      await lookAt(name);
    }
    expect(attempts.runs).toHaveLength(3);
    expect(conditionOf(task('a-four'), 'Ready')).toBe('False PromptLimit: 3 prompts are being worked on by codex already');
    run?.end(DONE, { prompt: { notes: [] } });
    await lookAt('a-one');
    await lookAt('a-four');
    await lookAt('a-four');
    expect(attempts.runs).toHaveLength(4);
  });
});
