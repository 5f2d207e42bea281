/** Everything that a task has printed: from the Task where it holds all of it, else from what is kept beside it. */
import type { Connection } from '#client/connection.ts';
import { deskLines } from '#client/desk.ts';
import { type ApiObject, getJson, resourcePath } from '#client/resource-api.ts';
import { AgentisoError } from '#lib/errors.ts';
import { isObject } from '#lib/json.ts';

const TASKS = { group: 'agentiso.dev', version: 'v1alpha1', plural: 'tasks', isNamespaced: true };
/** What is kept of one stream; whoever wrote more has lost the rest. */
export const MAX_KEPT_BYTES = 64 * 1024 * 1024;

export interface WantedOutput {
  readonly namespace: string;
  readonly name: string;
  readonly stream: 'stdout' | 'stderr';
  /** Undefined: the last one. */
  readonly attempt?: number | undefined;
  readonly signal: AbortSignal;
}

/** Piece by piece. Throws NotFound when there is no output yet. */
export async function* taskOutput(connection: Connection, wanted: WantedOutput): AsyncGenerator<Buffer> {
  const { namespace, name, stream, signal } = wanted;
  const status = statusOf(await getJson<ApiObject>(connection, resourcePath(TASKS, { namespace, name }), { signal }));
  const said = lastOutput(status, wanted);
  if (said !== undefined) {
    yield Buffer.from(said);
    return;
  }
  const attempt = wanted.attempt ?? keptAttempt(status, stream) ?? Number(status['attempt'] ?? 0);
  if (attempt === 0 || (wanted.attempt === undefined && !isObject(status['result']))) throw noOutput(name, status);
  const path = `/artifacts/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}/${attempt}/${stream}.log`;
  for await (const line of deskLines<string>(connection, { method: 'GET', path, query: { encoding: 'base64' }, signal })) {
    yield Buffer.from(line, 'base64');
  }
}

type Fields = Readonly<Record<string, unknown>>;

/** The whole of it, where the Task has the whole of it. */
function lastOutput(status: Fields, { stream, attempt }: WantedOutput): string | undefined {
  const result = status['result'];
  if (!isObject(result) || (attempt !== undefined && attempt !== status['attempt'])) return undefined;
  if (artifactsOf(result).some(({ name }) => name === `${stream}.log`)) return undefined;
  // Cut, and nothing is kept: what there is, is better than nothing.
  return typeof result[stream] === 'string' ? result[stream] : '';
}

/** While another attempt runs, the result is still that of the one before. */
function keptAttempt(status: Fields, stream: string): number | undefined {
  const result = isObject(status['result']) ? status['result'] : {};
  const path = artifactsOf(result).find(({ name }) => name === `${stream}.log`)?.path ?? '';
  const [, attempt] = path.split('/');
  return attempt !== undefined && /^\d+$/.test(attempt) ? Number(attempt) : undefined;
}

function artifactsOf(result: Fields): readonly { readonly name?: string; readonly path?: string }[] {
  return Array.isArray(result['artifacts']) ? result['artifacts'] : [];
}

function noOutput(name: string, status: Fields): AgentisoError {
  const phase = String(status['phase'] ?? 'Pending');
  const owner = typeof status['owner'] === 'string' ? status['owner'] : undefined;
  return new AgentisoError('NotFound', `task ${name} has no output yet: it is ${phase}`, {
    ...(owner !== undefined && { hint: `agentiso logs -f ${owner} shows what its agent writes meanwhile` }),
  });
}

function statusOf(task: ApiObject): Fields {
  return isObject(task['status']) ? task['status'] : {};
}
