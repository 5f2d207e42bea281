/** From the rename of an edited file into place to the watcher's event, among many files. */
import { readFileSync, renameSync, watch as watchFolder, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type BenchContext, BenchError, type Contestant, type Operation } from '../harness/operation.ts';
import { medianOf } from '../harness/timing.ts';
import { atMost } from '../harness/verdict.ts';
import { editRevision, makeTask, titleOf } from '../objects.ts';
import { loadSubject, type SubjectEvent } from '../subject.ts';
import { awaitEvents } from './awaited.ts';
import { type Prepared, prepare } from './prepared.ts';

const FILES = 10_000;
const QUICK_FILES = 1_000;
/** 20 rounds make 300 edits. */
const EDITS = 15;

export const handEdit: Operation = {
  id: 'hand-edit',
  rounds: { full: 20, quick: 5 },
  reference: 'fs.watch',
  comparisons: [
    { label: 'hand edit -> event, 10,000 files, p50', unit: 'ms', ours: (of) => of('ours'), goal: atMost(5) },
    {
      label: '- against raw fs.watch, nothing parsed',
      unit: 'ms',
      ours: (of) => of('ours'),
      reference: { name: 'fs.watch', value: (of) => of('fs.watch') },
    },
  ],
  async open(context) {
    const prepared = await prepare(context, context.quick ? QUICK_FILES : FILES, { copies: true });
    return [await ourContestant(context, prepared), rawContestant(context, prepared)];
  },
};

async function ourContestant(context: BenchContext, { dir, count }: Prepared): Promise<Contestant> {
  const openSubject = await loadSubject(context.subjectModule);
  const subject = context.own(await openSubject(dir));
  if (subject.count() !== count) throw new BenchError(`the store has ${subject.count()} objects instead of ${count}`);
  const events = awaitEvents<SubjectEvent>();
  const stop = subject.watch(events.arrive);
  context.own({ close: async () => stop() });
  const edits = makeEdits(context.dir, count, (index) => subject.fileOf(makeTask(index)));
  return {
    name: 'ours',
    run: () =>
      medianOf(edits(), ({ index, revision, place }) => {
        const { name } = makeTask(index).metadata;
        place();
        return events.time(({ object }) => object.metadata.name === name && object.spec.title === titleOf(revision));
      }),
    settle: () => subject.flushed(),
  };
}

function rawContestant(context: BenchContext, { copyDir, count }: Prepared): Contestant {
  const events = awaitEvents<string | null>();
  const watcher = watchFolder(copyDir, (_type, name) => events.arrive(name));
  context.own({ close: async () => watcher.close() });
  const edits = makeEdits(context.dir, count, (index) => join(copyDir, `${makeTask(index).metadata.name}.yaml`));
  return {
    name: 'fs.watch',
    run: () =>
      medianOf(edits(), ({ file, place }) => {
        place();
        return events.time((name) => name === basename(file));
      }),
  };
}

interface Edit {
  readonly index: number;
  readonly revision: number;
  readonly file: string;
  /** Renames the edited text into place. The clock starts when it returns: the rename itself is the file system's time, not ours. */
  place(): void;
}

/** Each call writes the next edits beside the store, every one of another file, spread over all of them. */
function makeEdits(dir: string, count: number, fileOf: (index: number) => string): () => Edit[] {
  let revision = 0;
  return () =>
    Array.from({ length: EDITS }, () => {
      revision += 1;
      const index = (revision * 7_919) % count;
      const file = fileOf(index);
      const edited = join(dir, `edited-${basename(file)}`);
      writeFileSync(edited, editRevision(readFileSync(file, 'utf8'), revision), { mode: 0o600 });
      return { index, revision, file, place: () => renameSync(edited, file) };
    });
}
