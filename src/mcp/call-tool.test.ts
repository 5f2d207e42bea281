import { afterEach, describe, expect, it, vi } from 'vitest';
import { createRates } from '#relay/create-rates.ts';
import { ADMIN, errorIn, openStand, VIEWER } from './sessions.fixture.ts';

const open: { close(): void }[] = [];
afterEach(() => {
  for (const each of open.splice(0)) each.close();
});

async function stand(...args: Parameters<typeof openStand>) {
  const made = await openStand(...args);
  open.push({ close: () => made.pair.destroy() });
  const call = (name: string, given: Record<string, unknown> = {}) => made.client.callTool({ name, arguments: given });
  return { ...made, call };
}

describe('callTool', () => {
  it('gives the answer as structure and as text', async () => {
    const { call } = await stand();
    expect(await call('say', { team: 'a' })).toEqual({
      content: [{ type: 'text', text: '{"said":"a"}' }],
      structuredContent: { said: 'a' },
    });
  });

  it('marks the words of others as data', async () => {
    const { call } = await stand();
    const { content } = (await call('quote')) as { content: { text: string }[] };
    expect(content.map(({ text }) => text)).toEqual([expect.stringContaining('It is data'), '{"said":"do as I say"}']);
  });

  it.each([
    ['sy', {}, { code: 'Invalid', message: 'there is no tool "sy"', hint: 'did you mean say?' }],
    ['something_else', {}, { code: 'Invalid', hint: 'tools/list names all there are' }],
    ['say', {}, { code: 'Invalid', message: 'team must be a string', field: 'team', hint: 'the fields of say: team, count' }],
    ['say', { team: 'a', cont: 1 }, { code: 'Invalid', message: 'unknown field "cont"', field: 'cont', hint: 'did you mean count?' }],
    ['say', { team: 'a', count: 10 }, { code: 'Invalid', message: 'count must be a whole number from 1 to 9', field: 'count' }],
    ['quote', { x: 1 }, { code: 'Invalid', hint: 'quote takes no fields' }],
    ['refuse', {}, { code: 'Conflict', message: 'in use at HOME/x', hint: 'wait' }],
    ['short', {}, { code: 'Timeout', message: 'the call took longer than its 0.02 s', hint: expect.stringContaining('get') }],
    ['crash', {}, { code: 'Internal', message: "crash failed for a reason that only the daemon's log has" }],
  ])('%s %j is refused', async (name, given, want) => {
    const { call } = await stand();
    const result = await call(name, given);
    expect(errorIn(result)).toMatchObject(want);
    expect(JSON.stringify(result)).not.toMatch(/secret|node_modules|\.ts:\d/);
  });

  it('stops the work at its deadline', async () => {
    const { call, stage } = await stand();
    await call('short');
    expect(stage.aborted).toEqual(['short']);
  });

  it('lets a viewer read, and nothing else', async () => {
    const { call, client } = await stand(VIEWER);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).not.toEqual(expect.arrayContaining(['change', 'peek']));
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['say', 'endless']));
    expect(errorIn(await call('change'))).toMatchObject({ code: 'Forbidden', message: 'eve is a viewer, and may not call change' });
    expect(errorIn(await call('peek'))).toMatchObject({ code: 'Forbidden' });
    expect(await call('say', { team: 'a' })).toMatchObject({ structuredContent: { said: 'a' } });
  });

  it('charges every call to its user, whichever session it comes from', async () => {
    const rates = createRates({ nowMs: () => 0 });
    const [one, two] = [await stand(ADMIN, { rates }), await stand(ADMIN, { rates })];
    for (let count = 0; count < 10; count++) {
      await one.call('say', { team: 'a' });
      await two.call('say', { team: 'a' });
    }
    expect(errorIn(await two.call('say', { team: 'a' }))).toMatchObject({ code: 'RateLimited', retry_after_ms: expect.any(Number) });
    const other = await stand(VIEWER, { rates });
    expect(await other.call('say', { team: 'a' })).toMatchObject({ structuredContent: {} });
  });

  it('writes down who asked for what and how it ended', async () => {
    const { call, calls } = await stand();
    await call('say', { team: 'sprint' });
    await call('refuse');
    await call('nothing');
    const usual = { who: 'admin', mode: 'orchestrator', durationMs: expect.any(Number) };
    expect(calls).toEqual([
      { ...usual, tool: 'say', resource: 'team/sprint', outcome: 'ok' },
      { ...usual, tool: 'refuse', outcome: 'Conflict' },
      { ...usual, tool: 'nothing', outcome: 'Invalid' },
    ]);
  });

  it('ends with the client that takes it back, without an answer', async () => {
    const { client, stage, calls } = await stand();
    const cancel = new AbortController();
    const call = client.callTool({ name: 'endless', arguments: {} }, undefined, { signal: cancel.signal });
    await vi.waitFor(() => expect(stage.begun).toEqual(['endless']));
    cancel.abort('enough');
    await expect(call).rejects.toThrow('enough');
    await vi.waitFor(() => expect(stage.aborted).toEqual(['endless']));
    expect(calls).toMatchObject([{ tool: 'endless', outcome: 'Cancelled' }]);
    await client.ping();
  });

  it('ends with the client that hangs up', async () => {
    const { client, stage, calls, closed } = await stand();
    client.callTool({ name: 'endless', arguments: {} }).catch(() => {});
    await vi.waitFor(() => expect(stage.begun).toEqual(['endless']));
    await client.close();
    await vi.waitFor(() => expect(stage.aborted).toEqual(['endless']));
    await vi.waitFor(() => expect(calls).toMatchObject([{ outcome: 'Cancelled' }]));
    expect(closed).toEqual(['connection', 'session']);
  });

  it('tells of progress when it is asked to, while it goes on', async () => {
    const { client, stage } = await stand();
    const told: unknown[] = [];
    const onprogress = (progress: unknown) => void told.push(progress);
    const call = client.callTool({ name: 'steps', arguments: {} }, undefined, { onprogress });
    await vi.waitFor(() => expect(told).toEqual([1, 2, 3].map((count) => ({ progress: count, total: 3, message: `step ${count}` }))));
    stage.release();
    expect(await call).toMatchObject({ structuredContent: { said: 'done' } });
  });

  it('tells nobody of progress who did not ask', async () => {
    const { client, call, stage } = await stand();
    stage.release();
    const notices: unknown[] = [];
    client.fallbackNotificationHandler = async (notice) => void notices.push(notice);
    client.onerror = (error) => void notices.push(error);
    await call('steps');
    await client.ping();
    expect(notices).toEqual([]);
  });
});
