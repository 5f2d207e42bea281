/** Many clients at once, each with a connection and an object of its own: acknowledged updates per second. */
import type { Contestant, Operation } from '../harness/operation.ts';
import { rateOf } from '../harness/timing.ts';
import { atLeast } from '../harness/verdict.ts';
import { type Daemon, fillMerges, startDaemon } from './daemon.ts';
import { type EtcdPuts, openEtcdPuts } from './etcd-puts.ts';
import type { HttpClient } from './http-client.ts';
import { makeUpdates } from './updates.ts';

const CLIENTS = 64;
const EACH = 25;

export const putThroughput: Operation = {
  id: 'put-throughput',
  about:
    '64 objects, each updated by a client with a connection of its own; etcd has 64 puts in flight on one HTTP/2 connection; both after 16,000 that are not counted',
  rounds: { warmUp: 10, full: 20, quick: 3 },
  reference: 'etcd',
  comparisons: [
    {
      label: 'PUT, 64 clients',
      unit: 'op/s',
      ours: (of) => of('ours'),
      reference: { name: 'etcd', value: (of) => of('etcd') },
      goal: atLeast(2),
    },
  ],
  async open(context) {
    const daemon = await startDaemon(context);
    const texts = await fillMerges(daemon, CLIENTS);
    return [await ourContestant(daemon, texts), etcdContestant(await openEtcdPuts(context, texts))];
  },
};

async function ourContestant(daemon: Daemon, texts: readonly string[]): Promise<Contestant> {
  const clients = await Promise.all(texts.map(() => daemon.connect()));
  const updates = makeUpdates(texts);
  return {
    name: 'ours',
    run: () => rateOf(CLIENTS, EACH, (index) => updates.put(clients[index] as HttpClient, updates.next(index))),
    settle: () => daemon.settle(),
  };
}

function etcdContestant(etcd: EtcdPuts): Contestant {
  return {
    name: 'etcd',
    run() {
      const requests = Array.from({ length: CLIENTS * EACH }, (_, call) => etcd.next(call).request);
      return rateOf(CLIENTS, EACH, (index, turn) => etcd.client.put(requests[turn * CLIENTS + index] as Buffer));
    },
    settle: () => etcd.settle(),
  };
}
