/** The messages around a stop, as far as they are written by hand. */
import { expect, it } from 'vitest';
import { STOP_REQUEST_ANNOTATION } from '#client/stop-request.ts';
import { relayWorld } from './relay.fixture.ts';

it('makes a request of the lead or of people a wish in the Agent, and no message of its own', async () => {
  const { send, write, agent, inbox } = await relayWorld();
  expect(await send('a/lead', { to: 'coder', type: 'shutdown_request', content: 'enough' })).toMatchObject({
    accepted: ['coder'],
    delivered: false,
  });
  expect(agent('a/coder').spec.desiredState).toBe('Stopped');
  const { generation, annotations } = agent('a/coder').metadata;
  expect(JSON.parse(annotations?.[STOP_REQUEST_ANNOTATION] ?? '')).toEqual({ from: 'lead', reason: 'enough', generation });
  expect(await inbox('a/coder')).toEqual([]);
  const before = agent('a/coder');
  await write('coder', { type: 'shutdown_request', content: '' });
  expect(agent('a/coder')).toBe(before);
  expect(await write('*', { type: 'shutdown_request', content: 'all of you' })).toMatchObject({ accepted: ['coder', 'lead', 'tester'] });
  expect([agent('a/lead'), agent('a/tester'), agent('a-b/coder')].map(({ spec }) => spec.desiredState)).toEqual([
    'Stopped',
    'Stopped',
    'Running',
  ]);
});

it('refuses one of a team mate, and one that crosses teams', async () => {
  const { send, agent } = await relayWorld();
  const order = { type: 'shutdown_request' as const };
  await expect(send('a/coder', { to: 'tester', ...order })).rejects.toMatchObject({ code: 'Forbidden' });
  await expect(send('a/lead', { to: 'child/coder', ...order })).rejects.toMatchObject({ code: 'Forbidden' });
  for (const name of ['a/tester', 'child/coder']) expect(agent(name).spec.desiredState).toBe('Running');
});

it('writes the wish also when somebody else writes to the Agent at the same moment', async () => {
  const { send, agent, setStatus, client } = await relayWorld();
  const { get } = client;
  let others = 3;
  client.get = (async (key: Parameters<typeof get>[0]) => {
    const found = await get(key);
    if (key.name === 'a-coder' && key.kind === 'Agent' && others-- > 0) await setStatus(agent('a/coder'), { restarts: others });
    return found;
  }) as typeof get;
  await send('a/lead', { to: 'coder', type: 'shutdown_request' });
  expect(agent('a/coder').spec.desiredState).toBe('Stopped');
});

it.each([
  ['true', 'Accepted'],
  ['false', 'Refused'],
  ['deferred', 'Deferred'],
])('keeps the answer accepted=%s of an agent that was asked as %s, and tells the lead', async (accepted, answer) => {
  const { send, agent, setStatus, inbox } = await relayWorld();
  const asked = { requestedAt: '2026-01-02T03:04:05.000Z', deadline: '2026-01-02T03:04:35.000Z' };
  await setStatus(agent('a/coder'), { shutdown: asked });
  const response = { to: 'lead', type: 'shutdown_response' as const, content: 'so be it' };
  await send('a/coder', { ...response, metadata: { accepted, reason: 'my words' } });
  expect(agent('a/coder').status?.shutdown).toEqual({ ...asked, answer, reason: 'my words' });
  expect(await inbox('a/lead')).toEqual(['coder -> lead shutdown_response: so be it']);
});

it('refuses an answer that is none, and records none that nobody asked for', async () => {
  const { send, agent } = await relayWorld();
  const response = { to: 'lead', type: 'shutdown_response' as const };
  for (const metadata of [undefined, { accepted: 'perhaps' }, { accepted: 'constructor' }]) {
    await expect(send('a/coder', { ...response, ...(metadata && { metadata }) })).rejects.toMatchObject({ code: 'Invalid' });
  }
  await send('a/coder', { ...response, metadata: { accepted: 'true' } });
  expect(agent('a/coder').status?.shutdown).toBeUndefined();
});
