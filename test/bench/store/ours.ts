/** Our store as a contestant that is updated: keeps the current version of each object and checks every answer. */
import { join } from 'node:path';
import { type BenchContext, BenchError } from '../harness/operation.ts';
import { type BenchTask, withRevision } from '../objects.ts';
import { loadSubject, type Subject } from '../subject.ts';
import { fill } from './fill.ts';

export interface Ours {
  readonly subject: Subject;
  /** The next revision of object `index` (modulo the number of objects), ready to be written. */
  next(index: number): BenchTask;
  /** Writes it. Throws when the answer is not that object in a new version. */
  write(index: number, task: BenchTask): Promise<void>;
}

export async function openOurs({ dir, subjectModule, own }: BenchContext, size: number): Promise<Ours> {
  const openSubject = await loadSubject(subjectModule);
  const subject = own(await openSubject(join(dir, 'ours')));
  const current = await fill(subject, size);
  let revision = 0;
  own({
    async close() {
      if (subject.count() !== size) throw new BenchError(`the store has ${subject.count()} objects instead of ${size}`);
    },
  });
  return {
    subject,
    next(index) {
      revision += 1;
      return withRevision(current[index % size] as BenchTask, revision);
    },
    async write(index, task) {
      const stored = await subject.update(task);
      if (!isNewVersion(stored, task)) throw new BenchError(`the store answered an update of ${task.metadata.name} with something else`);
      current[index % size] = stored;
    },
  };
}

function isNewVersion(stored: BenchTask, sent: BenchTask): boolean {
  const isSame = stored.metadata.name === sent.metadata.name && stored.spec.title === sent.spec.title;
  return isSame && stored.metadata.resourceVersion !== sent.metadata.resourceVersion;
}
