/** From the call of an update to the watcher's callback, in one process and so on one clock. */
import type { BenchContext, Contestant, Operation } from '../harness/operation.ts';
import { medianOf } from '../harness/timing.ts';
import { atMost } from '../harness/verdict.ts';
import type { SubjectEvent } from '../subject.ts';
import { awaitEvents } from './awaited.ts';
import { openEtcdTasks, PREFIX } from './etcd-tasks.ts';
import { openOurs } from './ours.ts';

const OBJECTS = 1_000;
const CALLS = 80;

export const watch: Operation = {
  id: 'watch',
  rounds: { full: 20, quick: 5 },
  reference: 'etcd',
  comparisons: [
    {
      label: 'update -> watcher, p50',
      unit: 'ms',
      ours: (of) => of('ours'),
      reference: { name: 'etcd', value: (of) => of('etcd') },
      goal: atMost(0.5),
    },
  ],
  open: async (context) => [await etcdContestant(context), await ourContestant(context)],
};

async function ourContestant(context: BenchContext): Promise<Contestant> {
  const ours = await openOurs(context, OBJECTS);
  const events = awaitEvents<SubjectEvent>();
  const stop = ours.subject.watch(events.arrive);
  context.own({ close: async () => stop() });
  let first = 0;
  return {
    name: 'ours',
    run() {
      first += CALLS;
      const tasks = Array.from({ length: CALLS }, (_, call) => ours.next(first + call));
      return medianOf(tasks, (task, call) =>
        events.time(
          ({ object }) => object.spec.title === task.spec.title && object.metadata.name === task.metadata.name,
          () => ours.write(first + call, task),
        ),
      );
    },
    settle: () => ours.subject.flushed(),
  };
}

async function etcdContestant(context: BenchContext): Promise<Contestant> {
  const etcd = await openEtcdTasks(context, OBJECTS);
  const events = awaitEvents<Buffer>();
  const stop = await etcd.client.watch(PREFIX, events.arrive);
  context.own({ close: async () => stop() });
  let first = 0;
  return {
    name: 'etcd',
    run() {
      first += CALLS;
      const puts = Array.from({ length: CALLS }, (_, call) => etcd.next(first + call));
      return medianOf(puts, ({ request, value }) =>
        events.time(
          (seen) => seen.equals(value),
          () => etcd.client.put(request),
        ),
      );
    },
    settle: () => etcd.settle(),
  };
}
