import { once } from 'node:events';
import { createServer, type IncomingMessage, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { admission, kinds } from '#api/kinds.ts';
import { API_VERSION } from '#api/meta.ts';
import { localClient } from '#client/local.ts';
import { UnavailableError } from '#lib/errors.ts';
import { memoryStore } from '../../../test/support/memory-store.ts';
import type { AgentIo } from '../agent-io.ts';
import { createApi } from '../api.ts';
import { personIdentity } from '../auth/identity.ts';

const LEVEL = { debug: 20, error: 50 };

let problem: Error;
let port: number;
let logged: { readonly level: number; readonly msg: string; readonly err?: { readonly stack?: string } }[] = [];
let stop: () => Promise<void>;

const refuse = () => Promise.reject(problem);
const agentIo: AgentIo = { logs: refuse, exec: refuse, attach: refuse, portForward: refuse, usage: refuse };

beforeAll(async () => {
  const store = memoryStore({ kinds, admission });
  const client = localClient(store);
  const metadata = { name: 'crew-one', namespace: 'default' };
  await client.create({ apiVersion: API_VERSION, kind: 'Agent', metadata, spec: { team: 'crew' } } as unknown as Parameters<
    typeof client.create
  >[0]);
  const log = pino({ level: 'debug' }, { write: (line: string) => void logged.push(JSON.parse(line)) });
  const identity = personIdentity('admin', 'admin');
  const api = createApi({ store, log, agentIo, tokens: { identityOf: () => identity }, health: { checks: {} }, metrics: () => '' });
  const server = createServer();
  server.on('upgrade', (request, socket, head) => api.upgrade(request, socket, head, { identity }));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
  stop = async () => {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  };
});

afterAll(() => stop());

beforeEach(() => {
  logged = [];
});

async function upgrade(path: string): Promise<{ code: number | undefined; message: string }> {
  const request = send({
    port,
    host: '127.0.0.1',
    path: `/api/v1/namespaces/default/pods/crew-one/${path}`,
    headers: {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': Buffer.alloc(16).toString('base64'),
      'sec-websocket-protocol': 'v5.channel.k8s.io',
    },
  }).end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return { code: response.statusCode, message: JSON.parse(await text(response)).message };
}

describe.each(['exec?stdout=true&command=true', 'attach?stdout=true'])('%s', (path) => {
  it('of an agent that cannot be reached is refused, and is no failure of the server', async () => {
    problem = new UnavailableError('the agent is not connected yet');
    expect(await upgrade(path)).toEqual({
      code: 500,
      message: 'unable to upgrade connection: container not found ("agent"): the agent is not connected yet',
    });
    expect(logged.filter(({ level }) => level > LEVEL.debug)).toEqual([]);
    expect(logged.filter(({ err }) => err?.stack !== undefined)).toEqual([]);
  });

  it('that fails for a reason of ours is logged with all there is to know', async () => {
    problem = new TypeError('x is not a function');
    expect(await upgrade(path)).toMatchObject({ code: 500 });
    expect(logged).toMatchObject([{ level: LEVEL.error, err: { stack: expect.stringContaining('x is not a function') } }]);
  });
});
