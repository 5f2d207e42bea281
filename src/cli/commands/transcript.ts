/** `agentiso transcript`: what a coding agent said and did for a task. */
import { setTimeout as delay } from 'node:timers/promises';
import { deskLines } from '#client/desk.ts';
import { type ApiObject, getJson, resourcePath } from '#client/resource-api.ts';
import { AgentisoError, isCode } from '#lib/errors.ts';
import { isObject } from '#lib/json.ts';
import { apiCommand, type Session, text } from '../api-command.ts';
import { EXIT } from '../command.ts';
import { UsageError } from '../usage-error.ts';

const TASKS = { group: 'agentiso.dev', version: 'v1alpha1', plural: 'tasks', isNamespaced: true };
const LOOK_MS = 1_000;

export const transcriptCommand = apiCommand({
  name: 'transcript',
  args: '<task>',
  summary: 'print what a coding agent said and did for a task',
  description:
    'Prints prompts, words of the agent, tool calls and permissions of the last attempt of a task with a prompt, also of one that runs. -f goes on until it has ended.',
  options: [
    { flags: '-f, --follow', description: 'then print what comes, until the attempt has ended' },
    { flags: '--attempt <number>', description: 'of this attempt instead of the last one' },
    { flags: '-o, --output <format>', description: 'json: one object per line, with everything', choices: ['json'] },
  ],
  async run([word = ''], options, session) {
    const name = word.replace(/^(?:task|tasks|tk)\//, '');
    if (name === '' || name.includes('/')) throw new UsageError('give the name of a task: agentiso transcript NAME');
    const attempt = attemptOf(text(options['attempt']));
    const print = options['output'] === 'json' ? (line: string) => session.out(`${line}\n`) : (line: string) => session.out(toText(line));
    await show(session, name, { attempt, print, isFollowing: options['follow'] === true });
    return session.signal.aborted ? EXIT.interrupted : EXIT.ok;
  },
});

interface Showing {
  readonly attempt: number | undefined;
  readonly print: (line: string) => void;
  readonly isFollowing: boolean;
}

async function show(session: Session, name: string, { attempt, print, isFollowing }: Showing): Promise<void> {
  let printed = 0;
  for (;;) {
    const status = await statusOf(session, name);
    const wanted = attempt ?? Number(status['attempt'] ?? 0);
    const isRunning = status['phase'] === 'Running' && status['attempt'] === wanted;
    const lines = await linesOf(session, name, wanted).catch((error: unknown) => {
      // Followed from the beginning: there is nothing yet.
      if (isFollowing && isRunning && isCode(error, 'NotFound')) return [];
      throw error;
    });
    for (const line of lines.slice(printed)) print(line);
    printed = Math.max(printed, lines.length);
    if (!isFollowing || !isRunning || session.signal.aborted) return;
    await delay(LOOK_MS, undefined, { signal: session.signal }).catch(() => {});
  }
}

/** Whole lines only: the last one may still be on its way. */
async function linesOf({ connection, namespace, signal }: Session, name: string, attempt: number): Promise<string[]> {
  const path = `/artifacts/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}/${attempt}/transcript.jsonl`;
  const pieces: Buffer[] = [];
  const call = { method: 'GET' as const, path, query: { encoding: 'base64' }, signal };
  for await (const line of deskLines<string>(connection, call)) pieces.push(Buffer.from(line, 'base64'));
  return Buffer.concat(pieces).toString().split('\n').slice(0, -1);
}

async function statusOf({ connection, namespace, signal }: Session, name: string): Promise<Readonly<Record<string, unknown>>> {
  const task = await getJson<ApiObject>(connection, resourcePath(TASKS, { namespace, name }), { signal });
  const status = isObject(task['status']) ? task['status'] : {};
  if (Number(status['attempt'] ?? 0) > 0) return status;
  throw new AgentisoError('NotFound', `task ${name} has no transcript yet: it is ${String(status['phase'] ?? 'Pending')}`);
}

/** Words as they are; everything else says what it is. */
function toText(line: string): string {
  const entry: unknown = JSON.parse(line);
  const { time, type, text: said } = isObject(entry) ? entry : {};
  const words = String(said ?? '');
  const end = words.endsWith('\n') ? '' : '\n';
  return type === 'agent' ? `${words}${end}` : `${String(time).slice(11, 19)} [${String(type)}] ${words}${end}`;
}

function attemptOf(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (/^[1-9]\d{0,8}$/.test(value)) return Number(value);
  throw new UsageError(`option '--attempt' argument '${value}' is invalid. Give a number from 1 on.`);
}
