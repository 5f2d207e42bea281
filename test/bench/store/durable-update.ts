/** One writer: how long until an update is acknowledged and safe on disk. */
import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchContext, Contestant, Operation } from '../harness/operation.ts';
import { medianOfEach } from '../harness/timing.ts';
import { atMost } from '../harness/verdict.ts';
import { encodeTask } from '../objects.ts';
import { type EtcdTasks, openEtcdTasks } from './etcd-tasks.ts';
import { type Ours, openOurs } from './ours.ts';

const OBJECTS = 1_000;
const CALLS = 80;

export const durableUpdate: Operation = {
  id: 'durable-update',
  rounds: { full: 20, quick: 5 },
  reference: 'etcd',
  comparisons: [
    {
      label: 'durable update, 1 writer, p50',
      unit: 'ms',
      ours: (of) => of('ours'),
      reference: { name: 'etcd', value: (of) => of('etcd') },
      goal: atMost(0.7),
    },
    {
      label: '- against raw append + fdatasync',
      unit: 'ms',
      ours: (of) => of('ours'),
      reference: { name: 'raw', value: (of) => of('raw') },
    },
  ],
  async open(context) {
    const etcd = await openEtcdTasks(context, OBJECTS);
    const ours = await openOurs(context, OBJECTS);
    return [ourContestant(ours), etcdContestant(etcd), rawContestant(context)];
  },
};

function ourContestant(ours: Ours): Contestant {
  let first = 0;
  return {
    name: 'ours',
    run() {
      first += CALLS;
      const tasks = Array.from({ length: CALLS }, (_, call) => ours.next(first + call));
      return medianOfEach(tasks, (task, call) => ours.write(first + call, task));
    },
    settle: () => ours.subject.flushed(),
  };
}

function etcdContestant(etcd: EtcdTasks): Contestant {
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

/** The physical limit: the same bytes appended and synced, with nothing around it. */
function rawContestant({ dir, own }: BenchContext): Contestant {
  const file = openSync(join(dir, 'raw'), 'a', 0o600);
  own({ close: async () => closeSync(file) });
  let revision = 0;
  return {
    name: 'raw',
    run() {
      const records = Array.from({ length: CALLS }, (_, call) => encodeTask(call, ++revision));
      return medianOfEach(records, async (record) => {
        writeSync(file, record);
        fdatasyncSync(file);
      });
    },
  };
}
