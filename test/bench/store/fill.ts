/** Fills a store with benchmark objects and checks that all of them arrived. */
import { BenchError } from '../harness/operation.ts';
import { sideBySide } from '../harness/timing.ts';
import { type BenchTask, makeTask } from '../objects.ts';
import type { Subject } from '../subject.ts';

const WRITERS = 64;

/** Resolves to the stored objects in the order of their index. */
export async function fill(subject: Subject, count: number): Promise<BenchTask[]> {
  const tasks: BenchTask[] = [];
  let next = 0;
  await sideBySide(WRITERS, async () => {
    while (next < count) {
      const index = next++;
      tasks[index] = await subject.create(makeTask(index));
    }
  });
  await subject.flushed();
  if (subject.count() !== count) throw new BenchError(`the store has ${subject.count()} objects instead of ${count}`);
  return tasks;
}
