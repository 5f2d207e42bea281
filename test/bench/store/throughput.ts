/** Many writers at once: acknowledged updates per second. */
import type { Contestant, Operation } from '../harness/operation.ts';
import { perSecond, rateOf } from '../harness/timing.ts';
import { atLeast } from '../harness/verdict.ts';
import { type EtcdTasks, openEtcdTasks } from './etcd-tasks.ts';
import { type Ours, openOurs } from './ours.ts';

const OBJECTS = 1_024;
const WRITERS = 64;
const EACH = 25;
const CALLS = WRITERS * EACH;

export const throughput: Operation = {
  id: 'throughput',
  rounds: { full: 20, quick: 5 },
  reference: 'etcd',
  comparisons: [
    {
      label: 'durable updates, 64 writers',
      unit: 'op/s',
      ours: (of) => of('ours'),
      reference: { name: 'etcd', value: (of) => of('etcd') },
      goal: atLeast(3),
    },
    {
      label: '- until the YAML files are written too',
      unit: 'op/s',
      ours: (of) => of('ours, files written'),
      reference: { name: 'etcd', value: (of) => of('etcd') },
    },
  ],
  async open(context) {
    const etcd = await openEtcdTasks(context, OBJECTS);
    const ours = await openOurs(context, OBJECTS);
    return [ourContestant(ours), ourContestantWithFiles(ours), etcdContestant(etcd)];
  },
};

/** Writer `w` owns the objects w, w + 64, …: no two writers meet, so no update is refused. */
function makeUpdater(ours: Ours): () => Promise<number> {
  let first = 0;
  return () => {
    first += EACH;
    return rateOf(WRITERS, EACH, (writer, turn) => {
      const index = writer + WRITERS * (first + turn);
      return ours.write(index, ours.next(index));
    });
  };
}

function ourContestant(ours: Ours): Contestant {
  return { name: 'ours', run: makeUpdater(ours), settle: () => ours.subject.flushed() };
}

/** What the store can hold for ever: files are written behind, but they must keep up. */
function ourContestantWithFiles(ours: Ours): Contestant {
  const update = makeUpdater(ours);
  return {
    name: 'ours, files written',
    async run() {
      const start = performance.now();
      await update();
      await ours.subject.flushed();
      return perSecond(CALLS, performance.now() - start);
    },
  };
}

function etcdContestant(etcd: EtcdTasks): Contestant {
  let first = 0;
  return {
    name: 'etcd',
    run() {
      first += CALLS;
      const requests = Array.from({ length: CALLS }, (_, call) => etcd.next(first + call).request);
      return rateOf(WRITERS, EACH, (writer, turn) => etcd.client.put(requests[writer * EACH + turn] as Buffer));
    },
    settle: () => etcd.settle(),
  };
}
