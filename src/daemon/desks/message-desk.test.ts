/** `/messages` over HTTP, with the real post and real mail on disk: who may, what is kept, and what comes back. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Agent } from '#api/types.ts';
import { silentLogger } from '#lib/log.ts';
import { openMail } from '#mail/open-mail.ts';
import { createPost } from '#relay/create-post.ts';
import type { Post } from '#relay/post.ts';
import { type Api, createApi } from '#server/api.ts';
import { agentIdentity, type Identity, personIdentity } from '#server/auth/identity.ts';
import { bench, newAgent, newTeam } from '../../../test/support/controllers.ts';
import { createMessageDesk } from './message-desk.ts';

const IDENTITIES: Readonly<Record<string, Identity>> = {
  admin: personIdentity('admin', 'ann'),
  viewer: personIdentity('viewer', 'eve'),
  agent: agentIdentity({ namespace: 'default', team: 'a', name: 'lead' }),
};

let folder: string;
let mail: ReturnType<typeof openMail>;
let post: Post;
let api: Api;
let server: Server;
let url: string;
const decided: unknown[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'agentiso-desk-'));
  mail = openMail({ directory: join(folder, 'mail'), log: silentLogger });
  const { client, store } = bench();
  await client.create(newTeam('a', { roles: [{ name: 'coder' }, { name: 'lead' }] }));
  for (const name of ['coder', 'lead']) await client.create<Agent>(newAgent(`a-${name}`, { team: 'a' }));
  const agentByUid = (uid: string) => store.list('Agent').items.find(({ metadata }) => metadata.uid === uid) as Agent | undefined;
  post = createPost({ client, mail, agentByUid });
  const desk = createMessageDesk({
    post,
    taskBook: {
      async decidePlan(principal, reference, decision) {
        decided.push({ principal, reference, decision });
        return decision.approved ? 'approved' : 'refused';
      },
    },
  });
  const identityOf = (token: string) => IDENTITIES[token];
  api = createApi({
    store,
    log: silentLogger,
    tokens: { identityOf },
    health: { checks: {} },
    metrics: () => '',
    desks: { messages: desk },
  });
  server = createServer((request, response) => api.handle(request, response, {}));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(async () => {
  api.endWatches();
  server.closeAllConnections();
  await new Promise((resolve) => {
    server.close(resolve);
  });
  await mail.close();
  rmSync(folder, { recursive: true });
  decided.length = 0;
});

async function ask(path: string, { method = 'GET', as = 'admin', body }: { method?: string; as?: string; body?: unknown } = {}) {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const headers = { authorization: `Bearer ${as}`, 'content-type': 'application/json' };
  const response = await fetch(`${url}/messages${path}`, { method, headers, ...sent });
  return { status: response.status, value: JSON.parse(await response.text()) };
}

const letter = (fields: object = {}) => ({ namespace: 'default', team: 'a', to: 'coder', content: 'hello', ...fields });
const send = (fields: object = {}) => ask('', { method: 'POST', body: letter(fields) });
const contents = ({ value }: { value: { items: { message: { content: string } }[] } }) => value.items.map(({ message }) => message.content);

describe('/messages', () => {
  it('takes a message from whoever was let in, as operator, and shows where it is', async () => {
    const sent = await send({ from: 'lead', type: 'request' });
    expect(sent).toMatchObject({ status: 201, value: { messageId: expect.any(String), accepted: ['coder'], failed: [] } });
    const { value } = await ask('?namespace=default&team=a');
    expect(value.items).toEqual([
      {
        inbox: 'a/coder',
        state: 'Accepted',
        message: expect.objectContaining({
          message_id: sent.value.messageId,
          from: 'orchestrator',
          to: 'coder',
          message_type: 'request',
          content: 'hello',
        }),
      },
    ]);
  });

  it('selects by inbox, sender, type and how many', async () => {
    for (const to of ['coder', 'lead', 'coder']) await send({ to, content: `to ${to}` });
    await send({ type: 'nudge', content: 'nudge' });
    expect(contents(await ask('?inbox=lead'))).toEqual(['to lead']);
    expect(contents(await ask('?type=nudge'))).toEqual(['nudge']);
    expect(contents(await ask('?from=coder'))).toEqual([]);
    expect(contents(await ask('?inbox=coder&limit=1'))).toEqual(['nudge']);
    expect(contents(await ask('?inbox=coder&limit=2&order=oldest'))).toEqual(['to coder', 'to coder']);
    expect(contents(await ask('?inbox=coder&type=nudge&limit=1&order=oldest'))).toEqual(['nudge']);
  });

  it('pushes what is there and then what comes, until the client leaves', async () => {
    await send({ content: 'before' });
    const leave = new AbortController();
    const response = await fetch(`${url}/messages/follow?team=a`, { headers: { authorization: 'Bearer admin' }, signal: leave.signal });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    const next = async () => JSON.parse((await reader?.read())?.value ?? '{}').message?.content;
    expect(await next()).toBe('before');
    await send({ content: 'after' });
    expect(await next()).toBe('after');
    leave.abort();
  });

  it('puts away what was written to people, and only that', async () => {
    await send({ to: 'orchestrator', content: 'note to self' });
    const [{ message }] = (await ask('?inbox=orchestrator&unseen=true')).value.items;
    const ack = (fields: object) => ask('/ack', { method: 'POST', body: { namespace: 'default', team: 'a', ...fields } });
    expect(await ack({ messageIds: [message.message_id, 'nobody'] })).toMatchObject({ status: 200, value: { unknown: ['nobody'] } });
    expect((await ask('?inbox=orchestrator&unseen=true')).value.items).toEqual([]);
    expect(contents(await ask('?inbox=orchestrator'))).toEqual(['note to self']);
    expect(await ack({ messageIds: [], inbox: 'coder' })).toMatchObject({ status: 403 });
  });

  it('passes a decision about a plan on, in the name of who asks', async () => {
    const body = { namespace: 'default', team: 'a', task: 'x', approved: false, feedback: 'smaller' };
    expect(await ask('/plan', { method: 'POST', body })).toEqual({ status: 200, value: { status: 'refused' } });
    expect(decided).toEqual([
      {
        principal: { kind: 'operator', user: 'ann' },
        reference: { namespace: 'default', team: 'a', task: 'x' },
        decision: { approved: false, feedback: 'smaller' },
      },
    ]);
  });

  it.each(['viewer', 'agent'])('is closed to the role %s, for reading and for sending', async (as) => {
    await send();
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/follow'],
      ['POST', ''],
      ['POST', '/ack'],
      ['POST', '/plan'],
    ] as const) {
      expect(await ask(path, { method, as, ...(method === 'POST' ? { body: letter() } : {}) })).toMatchObject({ status: 403 });
    }
    expect((await ask('')).value.items).toHaveLength(1);
  });

  it.each([
    { name: 'an agent that is not there', fields: { to: 'codre' }, want: [404, 'NotFound', 'codre'] },
    { name: 'a team that is not there', fields: { team: 'b' }, want: [404, 'NotFound', 'b'] },
    { name: 'an assignment by hand', fields: { type: 'task_assignment' }, want: [403, 'Forbidden', 'task_assignment'] },
    { name: 'a type there is not', fields: { type: 'gossip' }, want: [400, 'Invalid', 'type: give one of text'] },
    { name: 'nothing to say', fields: { content: '' }, want: [400, 'Invalid', 'content: give text'] },
    { name: 'metadata that is no text', fields: { metadata: { a: 1 } }, want: [400, 'Invalid', 'metadata: give a map of texts'] },
  ])('refuses $name, with the code and the reason', async ({ fields, want: [status, code, words] }) => {
    const refused = await send(fields);
    expect([refused.status, refused.value.details.causes[0].reason]).toEqual([status, code]);
    expect(refused.value.message).toContain(words);
    expect((await ask('')).value.items).toEqual([]);
  });

  it.each(['?limit=0', '?limit=x', '?limit=1001', '?unseen=maybe', '?order=best', '?type=gossip', '/follow?type=gossip'])(
    'refuses %s',
    async (path) => {
      expect(await ask(path)).toMatchObject({ status: 400 });
    },
  );

  it('refuses to follow a team that is not there instead of staying silent', async () => {
    expect(await ask('/follow?team=nobody')).toMatchObject({ status: 404 });
  });

  it('says what there is where there is nothing', async () => {
    expect((await ask('/nothing')).value.message).toContain('GET /messages/follow');
    const climbing = await fetch(`${url}/messages/ack/..%2f..%2ftokens`, { headers: { authorization: 'Bearer admin' } });
    expect(climbing.status).toBe(404);
  });

  it('says that an inbox is full, and that trying again may help', async () => {
    for (let at = 0; at < 100; at++) await send({ content: `${at}` });
    const refused = await send({ content: 'one too many' });
    expect(refused).toMatchObject({ status: 503, value: { details: { causes: [{ reason: 'InboxFull' }], retryAfterSeconds: 1 } } });
  });
});
