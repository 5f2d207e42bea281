/** One client that updates one object after the other: how long until the answer says that it is safe on disk. */
import type { Contestant, Operation } from '../harness/operation.ts';
import { medianOfEach } from '../harness/timing.ts';
import { atMost } from '../harness/verdict.ts';
import { type Daemon, fillMerges, startDaemon } from './daemon.ts';
import { type EtcdPuts, openEtcdPuts } from './etcd-puts.ts';
import { makeUpdates } from './updates.ts';

const OBJECTS = 1_000;
const CALLS = 80;

export const put: Operation = {
  id: 'put',
  about:
    'each PUT is the last answer with one value changed, so with the resourceVersion that was returned; etcd puts the same bytes; both after 4,800 that are not counted',
  rounds: { warmUp: 60, full: 20, quick: 3 },
  reference: 'etcd',
  comparisons: [
    {
      label: 'PUT, 1 client, p50',
      unit: 'ms',
      ours: (of) => of('ours'),
      reference: { name: 'etcd', value: (of) => of('etcd') },
      goal: atMost(0.8),
    },
  ],
  async open(context) {
    const daemon = await startDaemon(context);
    const texts = await fillMerges(daemon, context.quick ? OBJECTS / 10 : OBJECTS);
    return [await ourContestant(daemon, texts), etcdContestant(await openEtcdPuts(context, texts))];
  },
};

async function ourContestant(daemon: Daemon, texts: readonly string[]): Promise<Contestant> {
  const client = await daemon.connect();
  const updates = makeUpdates(texts);
  let first = 0;
  return {
    name: 'ours',
    run() {
      first += CALLS;
      const prepared = Array.from({ length: CALLS }, (_, call) => updates.next(first + call));
      return medianOfEach(prepared, (update) => updates.put(client, update));
    },
    settle: () => daemon.settle(),
  };
}

function etcdContestant(etcd: EtcdPuts): Contestant {
  let first = 0;
  return {
    name: 'etcd',
    run() {
      first += CALLS;
      const requests = Array.from({ length: CALLS }, (_, call) => etcd.next(first + call).request);
      return medianOfEach(requests, (request) => etcd.client.put(request));
    },
    settle: () => etcd.settle(),
  };
}
