/** The product under measurement: `agentiso serve` in its own process on a fresh home, filled through its own API. */
import { join } from 'node:path';
import { untilIdle } from '../harness/idle.ts';
import { type BenchContext, BenchError } from '../harness/operation.ts';
import { sideBySide } from '../harness/timing.ts';
import { checked, HttpClient } from './http-client.ts';
import { MERGES, makeMerge, makeMergeStatus } from './merge.ts';
import { productPath } from './programs.ts';
import { formatRequest } from './response.ts';
import { startServer } from './server-process.ts';

const WRITERS = 32;
const CONFLICT = 409;

export interface Daemon {
  readonly home: string;
  readonly socketPath: string;
  /** A connection that is closed with the operation. */
  connect(): Promise<HttpClient>;
  /** Until everything accepted is in its YAML file and all is quiet. */
  settle(): Promise<void>;
}

export async function startDaemon({ dir, own, subjectModule }: BenchContext): Promise<Daemon> {
  const home = join(dir, 'home');
  const socketPath = join(home, 'agentiso.sock');
  const server = own(await startServer('agentiso serve', [productPath(subjectModule), 'serve', '--home', home, '--log-level', 'error']));
  return {
    home,
    socketPath,
    async connect() {
      const client = await HttpClient.connect(socketPath);
      own({ close: async () => client.close() });
      return client;
    },
    settle: () => untilIdle(server.pid),
  };
}

/** Creates Merges with spec and status; resolves to their JSON as the API gives it when all is quiet, in the order of their index. */
export async function fillMerges(daemon: Daemon, count: number): Promise<string[]> {
  let next = 0;
  await sideBySide(WRITERS, async () => {
    const client = await daemon.connect();
    while (next < count) await createMerge(client, next++);
    client.close();
  });
  await daemon.settle();
  const client = await daemon.connect();
  const { items } = await listMerges(client, count);
  client.close();
  // They are listed by name, and the names count.
  return items;
}

/** Its status is said again when the controller has said something of it in between. */
async function createMerge(client: HttpClient, index: number): Promise<void> {
  const draft = makeMerge(index);
  const path = `${MERGES}/${draft.metadata.name}`;
  let reply = checked(await client.exchange(formatRequest({ method: 'POST', path: MERGES, body: JSON.stringify(draft) })));
  for (;;) {
    const body = JSON.stringify({ ...JSON.parse(reply.body().toString()), status: makeMergeStatus() });
    const put = await client.exchange(formatRequest({ method: 'PUT', path: `${path}/status`, body }));
    if (put.status !== CONFLICT) {
      checked(put);
      return;
    }
    reply = checked(await client.exchange(formatRequest({ method: 'GET', path })));
  }
}

/** The number of Merges, and their JSON each: what a list answers. */
export async function listMerges(client: HttpClient, count: number): Promise<{ length: number; items: string[] }> {
  const reply = checked(await client.exchange(formatRequest({ method: 'GET', path: MERGES })));
  const { items } = JSON.parse(reply.body().toString()) as { items: unknown[] };
  if (items.length !== count) throw new BenchError(`the API lists ${items.length} objects instead of ${count}`);
  return { length: reply.length, items: items.map((item) => JSON.stringify(item)) };
}
