/** `agentiso logs`: what agents have written, and what they write. */
import { listObjects, send } from '#client/resource-api.ts';
import { isObject } from '#lib/json.ts';
import { apiCommand, type Session, text } from '../api-command.ts';
import { EXIT, type OptionValues } from '../command.ts';
import { findNamed, withMeantAgent } from '../named.ts';
import { meantBy, PODS, podPath } from '../streams/pod.ts';
import { linePrefixer } from '../streams/prefix.ts';
import { UsageError } from '../usage-error.ts';
import { durationMs } from '../write/flags.ts';

/** As kubectl: a selector may mean very many. */
const SELECTED_TAIL = '10';
const MAX_FOLLOWED = 5;

export const logsCommand = apiCommand({
  name: 'logs',
  args: '[agent]',
  summary: 'print what an agent has written',
  description:
    'Prints the log of an agent: NAME, agent/NAME or pod/NAME, or of all that -l selects. Of task/NAME it prints the output of the command, once that has ended.',
  options: [
    { flags: '-f, --follow', description: 'then print every new line' },
    { flags: '--tail <lines>', description: 'only so many of the last lines; -1 for all (with -l: 10 of each)' },
    { flags: '--since <duration>', description: 'only what is not older: 5s, 2m, 3h' },
    { flags: '--since-time <time>', description: 'only what was written after this time, as RFC 3339' },
    { flags: '--timestamps', description: 'with the time before each line' },
    { flags: '--prefix', description: 'with the name of the agent before each line' },
    { flags: '--limit-bytes <bytes>', description: 'at most so many bytes' },
    { flags: '-p, --previous', description: 'of the run before this one' },
    { flags: '-l, --selector <labels>', description: 'of all agents with these labels' },
    { flags: '-c, --container <name>', description: 'container of the pod; agents have one, named agent' },
  ],
  async run([word], options, session) {
    const selector = text(options['selector']);
    if ((word === undefined) === (selector === undefined)) throw new UsageError('give the name of an agent, or a selector with -l');
    if (word !== undefined) {
      const meant = meantBy(word, { withTasks: true });
      if (meant.kind === 'task') return printTask(session, meant.name);
      await printLogs(session, [meant.name], options);
    } else await printLogs(session, await selected(session, selector, options), options);
    return session.signal.aborted ? EXIT.interrupted : EXIT.ok;
  },
});

async function selected(session: Session, labelSelector: string | undefined, options: OptionValues): Promise<readonly string[]> {
  const { connection, namespace, signal } = session;
  const location = { namespace, query: { labelSelector } };
  const { items } = await listObjects(connection, { resource: PODS, location, signal });
  const names = items.flatMap(({ metadata }) => metadata.name ?? []);
  if (names.length === 0) session.err(`No resources found in ${namespace} namespace.\n`);
  if (options['follow'] === true && names.length > MAX_FOLLOWED) {
    throw new UsageError(`-l selects ${names.length} agents, and at most ${MAX_FOLLOWED} can be followed at once`, {
      hint: 'select fewer',
    });
  }
  return names;
}

async function printLogs(session: Session, names: readonly string[], options: OptionValues): Promise<void> {
  const query = queryOf(options);
  const print = (name: string) => printLog(session, name, { query, isPrefixed: options['prefix'] === true });
  if (options['follow'] === true) await Promise.all(names.map(print));
  else for (const name of names) await print(name);
}

type LogQuery = Readonly<Record<string, string | boolean | number | undefined>>;

function queryOf(options: OptionValues): LogQuery {
  const tail = text(options['tail']) ?? (options['selector'] === undefined ? undefined : SELECTED_TAIL);
  const since = text(options['since']);
  return {
    container: text(options['container']),
    follow: options['follow'] === true || undefined,
    timestamps: options['timestamps'] === true || undefined,
    previous: options['previous'] === true || undefined,
    tailLines: tail === undefined || tail === '-1' ? undefined : wholeNumber(tail, '--tail'),
    limitBytes: wholeNumber(text(options['limitBytes']), '--limit-bytes'),
    sinceSeconds: since === undefined ? undefined : Math.max(1, Math.ceil(durationMs(since, '--since') / 1_000)),
    sinceTime: text(options['sinceTime']),
  };
}

function wholeNumber(value: string | undefined, flag: string): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,15}$/.test(value)) return Number(value);
  throw new UsageError(`option '${flag}' argument '${value}' is invalid. Give a number.`);
}

async function printLog(session: Session, name: string, { query, isPrefixed }: { query: LogQuery; isPrefixed: boolean }): Promise<void> {
  const { connection, namespace, signal, out } = session;
  const prefix = linePrefixer(isPrefixed ? `[pod/${name}/agent] ` : '');
  const path = podPath({ namespace, name }, 'log', query);
  const response = await send(connection, { method: 'GET', path, signal }).catch(async (error: unknown) => {
    throw await withMeantAgent(error, session, name);
  });
  for await (const chunk of response.chunks()) out(prefix(chunk));
}

/** The log of its agent has other things in between; the Task has just its own. */
async function printTask(session: Session, word: string): Promise<number> {
  const { out, err } = session;
  const task = await findNamed(session, 'task', word);
  const { name } = task.metadata;
  const status = isObject(task['status']) ? task['status'] : {};
  const result = isObject(status['result']) ? status['result'] : undefined;
  if (!result) {
    const owner = textOf(status['owner']);
    err(`error: task ${name} has no output yet: it is ${String(status['phase'] ?? 'Pending')}\n`);
    if (owner !== '') err(`(agentiso logs -f ${owner} shows what its agent writes meanwhile)\n`);
    return EXIT.failure;
  }
  out(textOf(result['stdout']));
  err(textOf(result['stderr']));
  if (result['truncated'] === true) err(`(cut; agentiso output ${name} prints all of it)\n`);
  return EXIT.ok;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
