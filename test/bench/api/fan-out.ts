/** One change, many watchers: from the sending of a PUT until the last of them has its line. */
import type { BenchContext, Contestant, Operation } from '../harness/operation.ts';
import { medianOf } from '../harness/timing.ts';
import { atMost } from '../harness/verdict.ts';
import { PREFIX } from '../store/etcd-tasks.ts';
import { awaitAll } from './all-arrived.ts';
import { type Daemon, fillMerges, startDaemon } from './daemon.ts';
import { openEtcdPuts } from './etcd-puts.ts';
import { MERGES, revisionText, versionOf } from './merge.ts';
import { makeUpdates } from './updates.ts';
import { openWatch } from './watcher.ts';

const OBJECTS = 100;
const WATCHERS = 100;
const CALLS = 25;

export const fanOut: Operation = {
  id: 'fan-out',
  about:
    '100 watches on connections of their own, opened by the process that writes; etcd has 100 watch streams on one HTTP/2 connection; both after 1,500 that are not counted',
  rounds: { warmUp: 60, full: 20, quick: 3 },
  reference: 'etcd',
  comparisons: [
    {
      label: 'PUT -> all of 100 watchers, p50',
      unit: 'ms',
      ours: (of) => of('ours'),
      reference: { name: 'etcd', value: (of) => of('etcd') },
      goal: atMost(0.8),
    },
  ],
  async open(context) {
    const daemon = await startDaemon(context);
    const texts = await fillMerges(daemon, OBJECTS);
    return [await ourContestant(context, daemon, texts), await etcdContestant(context, texts)];
  },
};

async function ourContestant(context: BenchContext, daemon: Daemon, texts: readonly string[]): Promise<Contestant> {
  const client = await daemon.connect();
  const updates = makeUpdates(texts);
  const events = awaitAll<Buffer>(WATCHERS);
  const newest = Math.max(...texts.map(versionOf));
  const path = `${MERGES}?watch=true&resourceVersion=${newest}&timeoutSeconds=7200`;
  for (let watcher = 0; watcher < WATCHERS; watcher += 1) {
    const stop = await openWatch(daemon.socketPath, path, (line) => events.arrive(watcher, line));
    context.own({ close: async () => stop() });
  }
  let first = 0;
  return {
    name: 'ours',
    run() {
      first += CALLS;
      const prepared = Array.from({ length: CALLS }, (_, call) => updates.next(first + call));
      return medianOf(prepared, (update) => {
        const wanted = Buffer.from(revisionText(update.revision));
        return events.time(
          (line) => line.includes(wanted),
          () => updates.put(client, update),
        );
      });
    },
    settle: () => daemon.settle(),
  };
}

async function etcdContestant(context: BenchContext, texts: readonly string[]): Promise<Contestant> {
  const etcd = await openEtcdPuts(context, texts);
  const events = awaitAll<Buffer>(WATCHERS);
  for (let watcher = 0; watcher < WATCHERS; watcher += 1) {
    const stop = await etcd.client.watch(PREFIX, (value) => events.arrive(watcher, value));
    context.own({ close: async () => stop() });
  }
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
