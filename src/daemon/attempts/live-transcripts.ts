/** Transcripts of attempts that are still at work: they are with the guest, and read from there as far as they are written. */
import type { Agent, Task } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import type { Sessions } from '#guest/sessions.ts';
import { ignoreNotFound, isCode } from '#lib/errors.ts';
import type { ArtifactPlace } from './artifacts.ts';

const READ_MS = 30_000;

export interface LiveTranscriptsOptions {
  readonly client: Pick<Client, 'get'>;
  readonly sessions: Pick<Sessions, 'get'>;
}

/** Undefined: there is none, or nobody can be asked. */
export function liveTranscripts({
  client,
  sessions,
}: LiveTranscriptsOptions): (place: ArtifactPlace) => Promise<AsyncIterable<Buffer> | undefined> {
  return async ({ namespace, task: name, attempt, name: file }) => {
    if (file !== 'transcript.jsonl') return undefined;
    const task = await ignoreNotFound(client.get<Task>({ kind: 'Task', namespace, name }));
    const { owner, phase, attempt: present } = task?.status ?? {};
    if (!task || owner === undefined || phase !== 'Running' || present !== attempt) return undefined;
    const agent = await ignoreNotFound(client.get<Agent>({ kind: 'Agent', namespace, name: owner }));
    const session = sessions.get(agent?.metadata.uid ?? '');
    if (!session?.state.isControlOpen) return undefined;
    const call = session.open('artifactRead', { taskUid: task.metadata.uid, attempt, name: 'transcript' }, { deadlineMs: READ_MS });
    return contentOf(call.down.content, call.result);
  };
}

/**
 * An agent that has said nothing yet has no transcript: as if it were empty. Whatever else is in the way is thrown before the first piece: an
 * answer that has begun can only break off.
 */
async function contentOf(content: AsyncIterable<Buffer>, result: Promise<unknown>): Promise<AsyncIterable<Buffer>> {
  // A refusal ends the stream too soon, and only the result says why.
  const refusal = result.then(
    () => undefined,
    (error: unknown) => ({ error }),
  );
  const pieces = content[Symbol.asyncIterator]();
  const first = await pieces.next().catch(async (error: unknown) => {
    const why = (await refusal)?.error ?? error;
    if (isCode(why, 'NotFound')) return undefined;
    throw why;
  });
  return (async function* () {
    for (let piece = first; piece?.done === false; piece = await pieces.next()) yield piece.value;
    await refusal;
  })();
}
