/** Our API as a contestant that is written to: every update is the last answer with another value, and every answer is checked. */
import { BenchError } from '../harness/operation.ts';
import type { HttpClient, Reply } from './http-client.ts';
import { checked } from './http-client.ts';
import { MERGES, makeMerge, revisionText, versionOf, withRevision } from './merge.ts';
import { formatRequest } from './response.ts';

export interface Update {
  readonly index: number;
  readonly revision: number;
  readonly request: string;
}

export interface Updates {
  /** The next revision of object `index` (modulo their number), ready to be sent. */
  next(index: number): Update;
  /** Throws unless it is that object in a newer version. */
  accept(update: Update, reply: Reply): void;
  /** Sends and accepts. */
  put(client: HttpClient, update: Update): Promise<void>;
}

/** `texts`: the objects as they were read. */
export function makeUpdates(texts: readonly string[]): Updates {
  const current = [...texts];
  const paths = texts.map((_, index) => `${MERGES}/${makeMerge(index).metadata.name}`);
  let revision = 0;
  const accept: Updates['accept'] = (update, reply) => {
    const index = update.index;
    const text = checked(reply).body().toString();
    const isNewer = versionOf(text) > versionOf(current[index] as string);
    if (!isNewer || !text.includes(revisionText(update.revision))) throw new BenchError(`the API answered a PUT with something else`);
    current[index] = text;
  };
  return {
    next(wanted) {
      revision += 1;
      const index = wanted % current.length;
      const body = withRevision(current[index] as string, revision);
      return { index, revision, request: formatRequest({ method: 'PUT', path: paths[index] as string, body }) };
    },
    accept,
    put: async (client, update) => accept(update, await client.exchange(update.request)),
  };
}
