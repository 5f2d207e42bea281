/**
 * Tells when one note comes, changes or goes. The folders on the way to it are watched, and only while somebody follows. A hint only
 * means: look; what counts is whether the note is another one than before.
 */
import { join } from 'node:path';
import { AgentisoError } from '#lib/errors.ts';
import type { FolderWatches } from './folder-watches.ts';
import { joinPath, segmentsOf } from './paths.ts';

export interface FollowedNote {
  readonly root: string;
  /** Its version, or what stands in the way of reading it. */
  look(): Promise<string>;
  /** As it was asked for, and where that leads now. */
  places(): Promise<readonly string[]>;
}

/** Resolves when nothing is missed any more; then one item per change until the signal aborts. */
export async function followNote(note: FollowedNote, watches: FolderWatches, signal: AbortSignal): Promise<AsyncIterable<void>> {
  let isHinted = false;
  let wake = () => {};
  let names: ReadonlySet<string> = new Set();
  const hint = (name?: string) => {
    if (name !== undefined && !names.has(name)) return;
    isHinted = true;
    wake();
  };
  const places = async () => {
    const paths = await note.places();
    // Others may change every second what lies beside it.
    names = new Set(paths.flatMap(segmentsOf));
    return paths;
  };
  const watchAll = () => watchFolders({ root: note.root, places }, watches, hint);
  const end = () => {
    watches.close();
    hint();
  };
  signal.addEventListener('abort', end, { once: true });
  try {
    await watchAll();
    let version = await note.look();
    const hinted = () =>
      new Promise<void>((resolve) => {
        wake = resolve;
        if (isHinted) resolve();
      });
    return (async function* () {
      try {
        for (await hinted(); !signal.aborted; await hinted()) {
          isHinted = false;
          await watchAll();
          const next = await note.look();
          if (next === version) continue;
          version = next;
          yield;
        }
      } finally {
        watches.close();
        signal.removeEventListener('abort', end);
      }
    })();
  } catch (error) {
    watches.close();
    throw error;
  }
}

/** From the outermost in: a folder that is made after its parent is watched is told of by the parent. */
async function watchFolders(
  { root, places }: Pick<FollowedNote, 'root' | 'places'>,
  watches: FolderWatches,
  onName: (name: string | undefined) => void,
): Promise<void> {
  for (const path of await places()) {
    let folder = '';
    for (const name of segmentsOf(path)) {
      if (!watches.ensure(join(root, folder), onName)) {
        throw new AgentisoError('IoError', `changes of ${path} cannot be followed: its folder cannot be watched`);
      }
      folder = joinPath(folder, name);
    }
  }
}
