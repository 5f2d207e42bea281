/** Messages from an operator to agents, and what it reads of a team: what is in the journals afterwards, and what is not changed. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Agent, Task } from '#api/types.ts';
import { QUOTED } from '#protocol/tool-surface.ts';
import { newAgent, newTask, newTeam } from '../../../test/support/controllers.ts';
import { openWorkBench, type WorkBench } from '../work/work-bench.fixture.ts';

let here: WorkBench;
beforeEach(async () => {
  here = await openWorkBench();
  await here.client.create(newTeam('a', { roles: [{ name: 'coder' }, { name: 'tester' }] }));
  for (const name of ['coder', 'tester']) await here.client.create<Agent>(newAgent(`a-${name}`, { team: 'a' }));
});
afterEach(() => here.end());

const filed = () => here.post.read({ kind: 'operator', user: 'ann' }, { namespace: 'default', team: 'a', limit: 100 });
const say = async (from: string, content: string, more: object = {}) => {
  const agent = await here.client.get<Agent>({ kind: 'Agent', namespace: 'default', name: `a-${from}` });
  return here.post.send(
    { kind: 'agent', agent, incarnation: agent.status?.incarnation ?? '' },
    { namespace: 'default', team: 'a', to: 'orchestrator', content, ...more },
  );
};
const contents = ({ messages }: Record<string, unknown>) => (messages as { content: string }[]).map(({ content }) => content);

describe('team_message', () => {
  it('lies in the inbox of the agent, from the orchestrator, as what was said', async () => {
    const sent = await here.answer('team_message', {
      team: 'a',
      to: 'coder',
      content: 'look',
      message_type: 'request',
      request_id: 'r1',
    });
    expect(sent).toEqual({ message_id: expect.any(String), state: 'Accepted', delivered: false });
    const [copy, ...others] = await filed();
    expect(others).toEqual([]);
    expect(copy).toMatchObject({
      inbox: 'a/coder',
      state: 'Accepted',
      message: { message_id: sent['message_id'], from: 'orchestrator', message_type: 'request', content: 'look', request_id: 'r1' },
    });
  });

  it.each([
    { input: { to: 'nobody' }, code: 'NotFound', hint: 'team_status' },
    { input: { team: 'b' }, code: 'NotFound', hint: 'team_list' },
    { input: { to: '*' }, code: 'Invalid', hint: 'broadcast', field: 'to' },
    { input: { to: 'lead' }, code: 'NotFound', hint: 'broadcast' },
    { input: { message_type: 'task_assignment' }, code: 'Invalid', hint: 'message_type', field: 'message_type' },
    { input: { reply_to: 'none' }, code: 'NotFound', hint: 'team_receive' },
    { input: { text: 'x' }, code: 'Invalid', hint: 'content', field: 'text' },
  ])('refuses $input and says what helps', async ({ input, code, hint, field }) => {
    const { error } = await here.call('team_message', { team: 'a', to: 'coder', content: 'x', ...input });
    expect(error).toMatchObject({ code, hint: expect.stringContaining(hint), ...(field && { field }) });
    expect(await filed()).toEqual([]);
  });

  it('says that an inbox is full, and when to try again', async () => {
    const letter = { namespace: 'default', team: 'a', to: 'coder', content: 'x' };
    for (let at = 0; at < 100; at++) await here.post.send({ kind: 'operator', user: 'ann' }, letter);
    const { error } = await here.call('team_message', { team: 'a', to: 'coder', content: 'one more' });
    expect(error).toMatchObject({ code: 'InboxFull', retry_after_ms: 1_000, hint: expect.stringContaining('get_agent_status') });
  });
});

describe('broadcast', () => {
  it('gives everybody a copy of the same message', async () => {
    const sent = await here.answer('broadcast', { team: 'a', content: 'ship at noon' });
    expect(sent).toMatchObject({ failed: [] });
    expect([...(sent['accepted'] as string[])].sort()).toEqual(['coder', 'tester']);
    const copies = (await filed()).map(({ inbox, message }) => [inbox, message.message_id, message.to, message.message_type]);
    const want = ['a/coder', 'a/tester'].map((inbox) => [inbox, sent['message_id'], '*', 'broadcast']);
    expect(copies.sort()).toEqual(want);
  });

  it('fails for a full inbox alone', async () => {
    const letter = { namespace: 'default', team: 'a', to: 'coder', content: 'x' };
    for (let at = 0; at < 100; at++) await here.post.send({ kind: 'operator', user: 'ann' }, letter);
    const sent = await here.answer('broadcast', { team: 'a', content: 'now' });
    expect(sent).toMatchObject({ accepted: ['tester'], failed: [{ agent: 'coder', code: 'InboxFull' }] });
  });
});

describe('team_receive', () => {
  it('gives what was not put away, oldest first, marked as data, and keeps it until it is acknowledged', async () => {
    for (const words of ['one', 'two', 'three']) await say('coder', words);
    expect((await here.call('team_receive', { team: 'a' })).notes).toEqual([QUOTED]);
    const first = await here.answer('team_receive', { team: 'a', limit: 2 });
    expect(contents(first)).toEqual(['one', 'two']);
    expect(contents(await here.answer('team_receive', { team: 'a' }))).toEqual(['one', 'two', 'three']);
    const ids = (first['messages'] as { message_id: string }[]).map(({ message_id }) => message_id);
    const left = await here.answer('team_receive', { team: 'a', ack: [...ids, 'nothing'] });
    expect([contents(left), left['unknown_acks']]).toEqual([['three'], ['nothing']]);
  });

  it('only looks at the inbox of an agent', async () => {
    await here.answer('team_message', { team: 'a', to: 'coder', content: 'for you' });
    expect(contents(await here.answer('team_receive', { team: 'a', agent: 'coder' }))).toEqual(['for you']);
    const [{ message, state } = { message: { message_id: '' }, state: '' }] = await filed();
    expect(state).toBe('Accepted');
    const { error } = await here.call('team_receive', { team: 'a', agent: 'coder', ack: [message.message_id] });
    expect(error).toMatchObject({ code: 'Invalid', field: 'ack' });
    expect((await filed())[0]?.state).toBe('Accepted');
  });

  it('cuts outputs on characters, and counts what is not finished', async () => {
    for (const name of ['one', 'two', 'three']) await here.client.create<Task>(newTask(`a-${name}`, { team: 'a' }));
    const result = { exitCode: 1, stdout: 'ä'.repeat(3_000), stderr: `x${'€'.repeat(1_000)}`, sourceMessageId: 'm' };
    await here.setTask('a-one', { phase: 'Failed', owner: 'a-coder', finishedAt: '2026-01-01T00:00:01Z', result });
    await here.setTask('a-two', { phase: 'Succeeded', owner: 'a-tester', finishedAt: '2026-01-01T00:00:02Z', result: { stdout: 'ok' } });
    const all = await here.answer('team_receive', { team: 'a' });
    const [one, two] = all['task_results'] as { task_id: string; stdout: string; stderr: string }[];
    expect([one?.task_id, two?.task_id, all['pending_tasks']]).toEqual(['a-one', 'a-two', 1]);
    expect(one).toMatchObject({ status: 'failed', exit_code: 1, source_message_id: 'm', owner: 'a-coder' });
    expect(one?.stdout).toBe(`${'ä'.repeat(2_048)}\n... (truncated)`);
    expect(one?.stderr).toBe(`x${'€'.repeat(682)}\n... (truncated)`);
    const since = await here.answer('team_receive', { team: 'a', results_since: '2026-01-01T00:00:01Z' });
    expect(since['task_results']).toMatchObject([{ task_id: 'a-two' }]);
    expect((await here.answer('team_receive', { team: 'a', agent: 'coder' }))['task_results']).toMatchObject([{ task_id: 'a-one' }]);
  });

  it('waits for a message and consumes nothing', async () => {
    const waiting = here.answer('team_receive', { team: 'a', wait_seconds: 60 });
    await say('coder', 'done');
    expect(contents(await waiting)).toEqual(['done']);
    expect(contents(await here.answer('team_receive', { team: 'a' }))).toEqual(['done']);
  });

  it('waits for the end of a task', async () => {
    await here.client.create<Task>(newTask('a-one', { team: 'a' }));
    const waiting = here.answer('team_receive', { team: 'a', wait_seconds: 60, results_since: '2026-01-01T00:00:00Z' });
    await here.setTask('a-one', { phase: 'Running' });
    await here.setTask('a-one', { phase: 'Succeeded', finishedAt: '2026-01-01T00:00:01Z', result: { stdout: 'hi' } });
    expect(await waiting).toMatchObject({ messages: [], task_results: [{ task_id: 'a-one', stdout: 'hi' }], pending_tasks: 0 });
  });

  it('says when nothing came, and ends with its caller', async () => {
    expect(await here.answer('team_receive', { team: 'a', wait_seconds: 1 })).toMatchObject({ messages: [], timed_out: true });
    const leaving = new AbortController();
    const waiting = here.call('team_receive', { team: 'a', wait_seconds: 120 }, { signal: leaving.signal });
    leaving.abort();
    expect((await waiting).error).toMatchObject({ code: 'Cancelled' });
  });

  it('is for admins, and refuses a team that is not there', async () => {
    expect((await here.call('team_receive', { team: 'a' }, { role: 'viewer' })).error).toMatchObject({ code: 'Forbidden' });
    expect((await here.call('team_receive', { team: 'b' })).error).toMatchObject({
      code: 'NotFound',
      hint: expect.stringContaining('team_list'),
    });
  });
});
