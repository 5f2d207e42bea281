/** A daemon, the manifests, and their tasks followed to the end. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KindObject } from '#api/meta.ts';
import type { Connection } from '#client/connection.ts';
import { systemClock } from '#lib/clock.ts';
import { type CommandContext, EXIT, type Option, type OptionValues, type StartOptions } from '../command.ts';
import { type FollowEnd, type FollowView, followTasks } from '../follow.ts';
import { teamOf } from '../follow-board.ts';
import { plainView } from '../follow-plain.ts';
import { readManifests } from '../manifests.ts';
import { UsageError } from '../usage-error.ts';
import { FILENAME_OPTIONS } from '../write/flags.ts';
import { applyAll, finishedTasks } from './apply-all.ts';
import { type OpenDaemon, openDaemon } from './open-daemon.ts';
import { announcement, beforehand, boardText, conclusion, type Ending, hasTeams, USUAL_HOME } from './say.ts';
import { sayMessages } from './say-messages.ts';

export const RUN_OPTIONS: readonly Option[] = [
  ...FILENAME_OPTIONS.map((option) => (option.isRepeatable ? { ...option, isRequired: true } : option)),
  {
    flags: '--home <dir>',
    description: 'where resources, results and the work of agents are kept (default: $AGENTISO_HOME or .agentiso)',
  },
  { flags: '--temporary', description: 'keep everything in a temporary folder that is gone afterwards' },
  { flags: '--plain', description: 'print lines, not a live table' },
  {
    flags: '--log-level <level>',
    description: 'how much to tell on standard error',
    choices: ['silent', 'error', 'warn', 'info', 'debug'],
    default: 'error',
  },
];

/** What the manifests hold; undefined when something is wrong with them, and that has been said. */
export async function manifestsOf(options: OptionValues, { err, signal }: CommandContext): Promise<readonly KindObject[] | undefined> {
  if (options['temporary'] === true && options['home'] !== undefined) throw new UsageError('give either --home or --temporary');
  const filenames = options['filename'] as readonly string[];
  const { objects, problems } = await readManifests({ filenames, isRecursive: options['recursive'] === true, signal });
  for (const problem of problems) err(`${problem}\n`);
  return problems.length > 0 ? undefined : objects;
}

/** While the daemon still answers; its failure is the command's. */
export type Afterwards = (end: FollowEnd, connection: Connection) => Promise<void>;

export function runManifests(
  objects: readonly KindObject[],
  options: OptionValues,
  context: CommandContext,
  afterwards: Afterwards = async () => {},
): Promise<number> {
  return withHome(options, context, (home) => runIn(home, objects, { options, afterwards }, context));
}

async function withHome(options: OptionValues, { home }: CommandContext, work: (home: string) => Promise<number>): Promise<number> {
  if (options['temporary'] !== true) return work((options['home'] as string | undefined) ?? (home || USUAL_HOME));
  const temporary = mkdtempSync(join(tmpdir(), 'agentiso-'));
  try {
    return await work(temporary);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

async function runIn(
  home: string,
  objects: readonly KindObject[],
  { options, afterwards }: { readonly options: OptionValues; readonly afterwards: Afterwards },
  context: CommandContext,
): Promise<number> {
  const isTerminal = context.environment?.isTerminal === true;
  const logLevel = options['logLevel'] as StartOptions['logLevel'];
  const daemon = await openDaemon({ home, logLevel, logFormat: 'text' }, context);
  try {
    context.err(announcement(daemon, home));
    const ending: Ending = {
      home,
      stays: options['stay'] === true,
      isOurs: daemon.isOurs,
      isTemporary: options['temporary'] === true,
      command: context.environment?.command ?? 'agentiso',
    };
    const end = await applyAndFollow(daemon, objects, { ending, isLive: isTerminal && options['plain'] !== true, context });
    await afterwards(end, daemon.connection);
    if (context.signal.aborted && isTerminal && daemon.isOurs) context.err('\rstopping; Ctrl-C again ends at once\n');
    if (!daemon.isOurs && end.isUnfinished) context.err(`the daemon on ${home} goes on with the tasks\n`);
    return context.signal.aborted && end.isUnfinished ? EXIT.interrupted : end.code;
  } finally {
    await daemon.close();
  }
}

interface Following {
  readonly ending: Ending;
  readonly isLive: boolean;
  readonly context: CommandContext;
}

async function applyAndFollow(
  { client, connection }: OpenDaemon,
  objects: readonly KindObject[],
  following: Following,
): Promise<FollowEnd> {
  const { ending, isLive, context } = following;
  const { stays } = ending;
  const { err, signal } = context;
  const finished = await finishedTasks(client);
  const since = systemClock.now();
  await applyAll({ client, objects, finished, err });
  err(beforehand(objects, stays));
  if (!stays && !hasTeams(objects)) return { board: new Map(), code: EXIT.ok, isUnfinished: false };
  const old = new Set([...finished.values()].map(({ metadata }) => metadata.uid));
  const shown = await viewOf(isLive, (uid) => old.has(uid), context);
  const view: FollowView = {
    changed: shown.changed,
    said: shown.said,
    over(board, code) {
      shown.over(board, code);
      if (!isLive) err(boardText(board, systemClock.now()));
      err(conclusion(board, ending));
    },
  };
  const left = new AbortController();
  const listening = AbortSignal.any([signal, left.signal]);
  const teams = new Set(objects.map(teamOf));
  const messages = sayMessages({ connection, teams, since, say: view.said, signal: listening });
  // At once, not when everything has ended: the second Ctrl-C does not wait.
  signal.addEventListener('abort', shown.close, { once: true });
  try {
    return await followTasks({ client, applied: objects, view, signal, stays, beforeOver: messages.catchUp });
  } finally {
    left.abort();
    signal.removeEventListener('abort', shown.close);
    shown.close();
  }
}

async function viewOf(
  isLive: boolean,
  isOld: (uid: string) => boolean,
  { out, err, environment }: CommandContext,
): Promise<FollowView & { close(): void }> {
  if (!isLive) return plainView({ out, err, isOld });
  const [{ liveView }, { standardTerminal }] = await Promise.all([import('../live/view.ts'), import('../live/terminal.ts')]);
  return liveView({ out, err, isOld, terminal: standardTerminal, clock: systemClock, hasColour: environment?.hasColour === true });
}
