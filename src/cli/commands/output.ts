/** `agentiso output`: everything that a task has printed, also what its Task object has only the beginning and the end of. */
import { deskLines } from '#client/desk.ts';
import { type ApiObject, getJson, resourcePath } from '#client/resource-api.ts';
import { written } from '#lib/drained.ts';
import { AgentisoError } from '#lib/errors.ts';
import { isObject } from '#lib/json.ts';
import { apiCommand, type Session, text } from '../api-command.ts';
import { EXIT } from '../command.ts';
import { standardStreams } from '../streams/standard.ts';
import { UsageError } from '../usage-error.ts';

const TASKS = { group: 'agentiso.dev', version: 'v1alpha1', plural: 'tasks', isNamespaced: true };
/** What is kept of one stream; whoever wrote more has lost the rest. */
const MAX_KEPT_BYTES = 64 * 1024 * 1024;

export const outputCommand = apiCommand({
  name: 'output',
  args: '<task>',
  summary: 'print everything that a task has printed',
  description:
    'Prints the whole standard output of the last attempt of a task that has ended, byte by byte, up to 64 MiB. Of an earlier attempt there is only what was too large for the Task.',
  options: [
    { flags: '--stderr', description: 'its standard error instead' },
    { flags: '--attempt <number>', description: 'of this attempt instead of the last one' },
  ],
  async run([word = ''], options, session) {
    const name = word.replace(/^(?:task|tasks|tk)\//, '');
    if (name === '' || name.includes('/')) throw new UsageError('give the name of a task: agentiso output NAME');
    const attempt = attemptOf(text(options['attempt']));
    await print(session, name, { stream: options['stderr'] === true ? 'stderr' : 'stdout', attempt });
    return session.signal.aborted ? EXIT.interrupted : EXIT.ok;
  },
});

interface Wanted {
  readonly stream: 'stdout' | 'stderr';
  readonly attempt: number | undefined;
}

async function print(session: Session, name: string, wanted: Wanted): Promise<void> {
  const { connection, namespace, signal, err } = session;
  const status = statusOf(await getJson<ApiObject>(connection, resourcePath(TASKS, { namespace, name }), { signal }));
  const said = lastOutput(status, wanted);
  const { stdout } = standardStreams();
  if (said !== undefined) return written(stdout, said);
  const attempt = wanted.attempt ?? keptAttempt(status, wanted.stream) ?? Number(status['attempt'] ?? 0);
  if (attempt === 0 || (wanted.attempt === undefined && !isObject(status['result']))) throw noOutput(name, status);
  const path = `/artifacts/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}/${attempt}/${wanted.stream}.log`;
  let bytes = 0;
  for await (const line of deskLines<string>(connection, { method: 'GET', path, query: { encoding: 'base64' }, signal })) {
    const piece = Buffer.from(line, 'base64');
    bytes += piece.length;
    await written(stdout, piece);
  }
  if (bytes >= MAX_KEPT_BYTES) err(`warning: only the first ${MAX_KEPT_BYTES} bytes are kept; there may have been more\n`);
}

type Fields = Readonly<Record<string, unknown>>;

/** The whole of it, where the Task has the whole of it. */
function lastOutput(status: Fields, { stream, attempt }: Wanted): string | undefined {
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

function attemptOf(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (/^[1-9]\d{0,8}$/.test(value)) return Number(value);
  throw new UsageError(`option '--attempt' argument '${value}' is invalid. Give a number from 1 on.`);
}
