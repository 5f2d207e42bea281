/**
 * Artifacts on disk: `<namespace>/<team>/<task>/<attempt>/<name>` below one folder, each file whole or not there. Beside the attempts of a
 * task lies its uid: another Task of the same name has nothing to do with them.
 */
import { createReadStream, createWriteStream, type ReadStream } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { isName } from '#api/names.ts';
import { AgentisoError } from '#lib/errors.ts';
import { syncPath } from '#lib/sync-path.ts';

export interface TaskPlace {
  readonly namespace: string;
  readonly team: string;
  readonly task: string;
}

export interface AttemptFiles extends TaskPlace {
  readonly taskUid: string | undefined;
  readonly attempt: number;
  readonly bytes: number;
  readonly finishedMs: number;
}

const UID_FILE = '.uid';
/** Never finished. */
const ASIDE = '.new';

export class ArtifactFiles {
  readonly #root: string;

  constructor(home: string) {
    this.#root = join(home, 'artifacts');
  }

  /** The folder of the Task with this uid. What an earlier Task of the same name has left goes. */
  async claim(place: TaskPlace, uid: string): Promise<void> {
    const folder = this.#folder(place);
    if ((await this.uidOf(place)) === uid) return;
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeDurably(join(folder, UID_FILE), uid);
  }

  /** On disk, whole, when it resolves; its size. Rejects with TooLarge for more than `maxBytes`. Then nothing is left of it. */
  async write(place: TaskPlace, attempt: number, name: string, content: Readable, maxBytes: number): Promise<number> {
    const path = this.#path(place, attempt, name);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    try {
      await pipeline(content, atMost(maxBytes, name), createWriteStream(path + ASIDE, { mode: 0o600, flush: true }));
      await rename(path + ASIDE, path);
    } catch (error) {
      await rm(path + ASIDE, { force: true });
      throw error;
    }
    for (const folder of [dirname(path), dirname(dirname(path))]) await syncPath(folder);
    return (await stat(path)).size;
  }

  /** Undefined: there is none. */
  async read(
    place: TaskPlace,
    attempt: number,
    name: string,
  ): Promise<{ readonly sizeBytes: number; readonly content: ReadStream } | undefined> {
    const path = this.#path(place, attempt, name);
    const stats = await ifThere(stat(path));
    return stats && { sizeBytes: stats.size, content: createReadStream(path) };
  }

  uidOf(place: TaskPlace): Promise<string | undefined> {
    return ifThere(readFile(join(this.#folder(place), UID_FILE), 'utf8'));
  }

  async removeTask(place: TaskPlace): Promise<void> {
    await rm(this.#folder(place), { recursive: true, force: true });
  }

  async removeTeam(namespace: string, team: string): Promise<void> {
    await rm(this.#folder({ namespace, team }), { recursive: true, force: true });
  }

  async removeAttempt({ attempt, ...place }: Pick<AttemptFiles, 'attempt'> & TaskPlace): Promise<void> {
    await rm(join(this.#folder(place), String(attempt)), { recursive: true, force: true });
  }

  async attemptsOf(namespace: string, team: string): Promise<AttemptFiles[]> {
    const folder = this.#folder({ namespace, team });
    const found = await Promise.all((await namesIn(folder)).filter(isName).map((task) => this.#attempts({ namespace, team, task })));
    return found.flat();
  }

  async tasks(): Promise<TaskPlace[]> {
    const places: TaskPlace[] = [];
    for (const namespace of (await namesIn(this.#root)).filter(isName)) {
      for (const team of (await namesIn(join(this.#root, namespace))).filter(isName)) {
        const tasks = (await namesIn(join(this.#root, namespace, team))).filter(isName);
        places.push(...tasks.map((task) => ({ namespace, team, task })));
      }
    }
    return places;
  }

  async #attempts(place: TaskPlace): Promise<AttemptFiles[]> {
    const folder = this.#folder(place);
    const taskUid = await this.uidOf(place);
    const numbers = (await namesIn(folder)).filter((name) => /^\d+$/.test(name));
    return Promise.all(
      numbers.map(async (number) => {
        const names = await namesIn(join(folder, number));
        const files = await Promise.all(names.map((name) => ifThere(stat(join(folder, number, name)))));
        const bytes = files.reduce((sum, file) => sum + (file?.size ?? 0), 0);
        return { ...place, taskUid, attempt: Number(number), bytes, finishedMs: Math.max(0, ...files.map((file) => file?.mtimeMs ?? 0)) };
      }),
    );
  }

  #path(place: TaskPlace, attempt: number, name: string): string {
    return join(this.#folder(place), String(attempt), basename(name));
  }

  /** Names come from objects, which cannot have others; from a path of a request they can. */
  #folder({ namespace, team, task }: Omit<TaskPlace, 'task'> & Partial<TaskPlace>): string {
    const names = [namespace, team, ...(task === undefined ? [] : [task])];
    if (names.some((name) => !isName(name)))
      throw new AgentisoError('Invalid', `${names.join('/')} names no artifacts: namespace, team and task are RFC 1123 labels`);
    return join(this.#root, ...names);
  }
}

function atMost(maxBytes: number, name: string): Transform {
  let room = maxBytes;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      room -= chunk.length;
      if (room < 0) done(new AgentisoError('TooLarge', `${name} is larger than ${maxBytes} bytes`));
      else done(null, chunk);
    },
  });
}

async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(path + ASIDE, 'w', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(path + ASIDE, path);
  await syncPath(dirname(path));
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return (await ifThere(readdir(folder))) ?? [];
}

async function ifThere<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}
