/**
 * `/artifacts/<namespace>/<task>/<attempt>/<name>`: the whole output of an attempt, as base64 line by line or as bytes. The transcript of one
 * that runs is there as far as it is written.
 */
import { AgentisoError } from '#lib/errors.ts';
import { type Desk, readersAndAdmins } from '#server/desk.ts';
import type { ArtifactPlace, Artifacts } from '../attempts/artifacts.ts';

export interface ArtifactDeskOptions extends Pick<Artifacts, 'open'> {
  /** What a guest has of it that still works at it; undefined: nothing. */
  readonly live: (place: ArtifactPlace) => Promise<AsyncIterable<Buffer> | undefined>;
}

const NAMES = ['stdout.log', 'stderr.log', 'transcript.jsonl'];

export function createArtifactDesk({ open, live }: ArtifactDeskOptions): Desk {
  return {
    may: readersAndAdmins,
    async answer({ method, path, query }) {
      if (method !== 'GET') throw new AgentisoError('Invalid', 'artifacts are only read, by GET');
      const place = parsePlace(path);
      const found = await open(place);
      const written = found ? undefined : await live(place);
      if (written) return { status: 200, lines: toBase64(written) };
      if (!found) {
        throw new AgentisoError('NotFound', `no ${place.name} of attempt ${place.attempt} of task ${place.task} is kept`, {
          hint: 'only output that is too large for the Task itself is; the oldest of a team go when there are more than 1 GiB',
        });
      }
      if (query.get('encoding') === 'base64') return { status: 200, lines: toBase64(found.content) };
      const headers = { 'Content-Length': String(found.sizeBytes) };
      return { status: 200, bytes: found.content, contentType: 'application/octet-stream', headers };
    },
  };
}

function parsePlace(path: string): ArtifactPlace {
  const [namespace = '', task = '', attempt = '', name = '', ...more] = path.split('/');
  if (more.length > 0 || !/^\d{1,9}$/.test(attempt) || !NAMES.includes(name)) {
    throw new AgentisoError(
      'Invalid',
      `/artifacts/${path} names no artifact; give /artifacts/NAMESPACE/TASK/ATTEMPT/${NAMES.join(' or ')}`,
    );
  }
  return { namespace, task, attempt: Number(attempt), name };
}

/** For clients that read lines of text: nothing is lost of what is none. */
async function* toBase64(content: AsyncIterable<Buffer>): AsyncIterable<string> {
  for await (const chunk of content) yield chunk.toString('base64');
}
