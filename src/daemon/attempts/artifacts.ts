/**
 * Whole outputs of attempts, for as long as their Task exists. A guest keeps them until its result is acknowledged; before that they are
 * fetched and on the host's disk. What a crash interrupts is fetched again from the beginning.
 */
import type { ReadStream } from 'node:fs';
import type { KindObject } from '#api/meta.ts';
import type { Task } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import type { Session } from '#guest/sessions.ts';
import { ignoreNotFound, isCode, messageOf } from '#lib/errors.ts';
import { KeyedLock } from '#lib/keyed-lock.ts';
import type { Logger } from '#lib/log.ts';
import { MAX_ARTIFACT_BYTES, type OutputName, type TaskResult } from '#protocol/control.ts';
import type { EventRecorder } from '#runtime/controller.ts';
import { ArtifactFiles, type AttemptFiles, type TaskPlace } from './artifact-files.ts';

export interface ArtifactsOptions {
  readonly home: string;
  readonly client: Client;
  readonly events: EventRecorder;
  readonly log: Logger;
  readonly maxTeamBytes?: number;
}

/** As in status.result.artifacts. */
export interface KeptArtifact {
  readonly name: string;
  readonly path: string;
  readonly sizeBytes: number;
}

export interface Artifacts {
  /**
   * Everything that the guest has kept beside this result, on disk when it resolves. Rejects when it should be tried again: the guest
   * went away meanwhile, or the disk takes nothing.
   */
  keep(task: Task, result: TaskResult, session: Pick<Session, 'open'>): Promise<readonly KeptArtifact[]>;
  /** Undefined: there is none of this name. */
  open(place: ArtifactPlace): Promise<{ readonly sizeBytes: number; readonly content: ReadStream } | undefined>;
  /** For the finalizer of a Task; idempotent. */
  removeTask(task: Task): Promise<void>;
  /** For the finalizer of a Team, once its Tasks are gone; idempotent. */
  removeTeam(team: { readonly namespace: string; readonly name: string }): Promise<void>;
  /** Removes what belongs to Tasks that do not exist any more: they went while an output was on its way. */
  sweep(): Promise<void>;
}

export interface ArtifactPlace {
  readonly namespace: string;
  readonly task: string;
  readonly attempt: number;
  readonly name: string;
}

const MAX_TEAM_BYTES = 1024 * 1024 * 1024;
/** One output; a guest that takes longer is asked again. */
const FETCH_MS = 300_000;

export function createArtifacts({ home, client, events, log, maxTeamBytes = MAX_TEAM_BYTES }: ArtifactsOptions): Artifacts {
  const files = new ArtifactFiles(home);
  const lock = new KeyedLock();

  return {
    async keep(task, result, session) {
      const { artifacts = [], attempt } = result;
      if (artifacts.length === 0) return [];
      const place = placeOf(task);
      await lock.run(teamKey(place), () => files.claim(place, task.metadata.uid));
      const kept: KeptArtifact[] = [];
      for (const { name } of artifacts) {
        const sizeBytes = await fetchOne(place, result, name, session);
        if (sizeBytes !== undefined) kept.push({ name: fileOf(name), path: `${place.task}/${attempt}/${fileOf(name)}`, sizeBytes });
      }
      await lock.run(teamKey(place), () => prune(place, attempt));
      return kept;
    },
    async open({ namespace, task: name, attempt, name: file }) {
      const task = await ignoreNotFound(client.get<Task>({ kind: 'Task', namespace, name }));
      if (!task || (await files.uidOf(placeOf(task))) !== task.metadata.uid) return undefined;
      return files.read(placeOf(task), attempt, file);
    },
    removeTask: (task) =>
      lock.run(teamKey(placeOf(task)), async () => {
        if ((await files.uidOf(placeOf(task))) === task.metadata.uid) await files.removeTask(placeOf(task));
      }),
    removeTeam: ({ namespace, name }) => lock.run(`${namespace}/${name}`, () => files.removeTeam(namespace, name)),
    async sweep() {
      const { items } = await client.list<Task>('Task');
      const uids = new Set(items.map(({ metadata }) => metadata.uid));
      for (const place of await files.tasks()) {
        const uid = await files.uidOf(place);
        if (uid !== undefined && !uids.has(uid)) await files.removeTask(place);
      }
    },
  };

  /** Undefined: it cannot be had, now or ever. The result counts all the same. */
  async function fetchOne(
    place: TaskPlace,
    result: TaskResult,
    name: OutputName,
    session: Pick<Session, 'open'>,
  ): Promise<number | undefined> {
    const { taskUid, attempt } = result;
    const leaving = new AbortController();
    const call = session.open('artifactRead', { taskUid, attempt, name }, { deadlineMs: FETCH_MS, signal: leaving.signal });
    // Looked at below, and rejected early where the guest has nothing: the stream has ended by then, without a word.
    const answer = call.result.catch((error: unknown) => ({ error }));
    try {
      const sizeBytes = await files.write(place, attempt, fileOf(name), call.down.content, MAX_ARTIFACT_BYTES);
      const said = await answer;
      if ('error' in said) throw said.error;
      return sizeBytes;
    } catch (error) {
      leaving.abort();
      const said = await answer;
      const why = isCode(error, 'TooLarge') || !('error' in said) ? error : said.error;
      if (!isCode(why, 'NotFound') && !isCode(why, 'TooLarge')) throw why;
      log.warn({ task: place.task, attempt, output: name, reason: messageOf(why) }, 'the whole output of an attempt cannot be had');
      return undefined;
    }
  }

  async function prune({ namespace, team, task }: TaskPlace, attempt: number): Promise<void> {
    const found = await files.attemptsOf(namespace, team);
    let bytes = found.reduce((sum, one) => sum + one.bytes, 0);
    const older = found.filter((one) => one.task !== task || one.attempt !== attempt).sort((a, b) => a.finishedMs - b.finishedMs);
    for (const oldest of older) {
      if (bytes <= maxTeamBytes) return;
      await files.removeAttempt(oldest);
      bytes -= oldest.bytes;
      await sayPruned(oldest);
    }
  }

  async function sayPruned({ namespace, team, task: name, taskUid, attempt, bytes }: AttemptFiles): Promise<void> {
    const task = await ignoreNotFound(client.get<KindObject>({ kind: 'Task', namespace, name }));
    const about =
      task?.metadata.uid === taskUid ? task : await ignoreNotFound(client.get<KindObject>({ kind: 'Team', namespace, name: team }));
    const message = `the whole output of attempt ${attempt} of task ${name}, ${bytes} bytes, was removed: team ${team} has more than ${maxTeamBytes} bytes of them`;
    if (about) events.warning(about, 'ArtifactPruned', message);
  }
}

function fileOf(name: OutputName): string {
  return name === 'transcript' ? 'transcript.jsonl' : `${name}.log`;
}

function placeOf({ metadata: { namespace, name }, spec: { team } }: Task): TaskPlace {
  return { namespace, team, task: name };
}

function teamKey({ namespace, team }: TaskPlace): string {
  return `${namespace}/${team}`;
}
