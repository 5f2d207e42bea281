/**
 * The work of an agent, carried from its workspace into another one: a commit with its history, or a copy of all files. Everything that
 * looks into the agent's files runs inside the agent; the host only passes bytes on.
 */
import { randomUUID } from 'node:crypto';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Session } from '#guest/sessions.ts';
import { AgentisoError, messageOf } from '#lib/errors.ts';
import { OutputTail } from './verify-output.ts';

/** The calls that both ends have: an agent's session, and the connection to a scratch workspace. */
export type Guest = Pick<Session, 'call' | 'open'>;

/** What is wrong with the work itself: to try again would not help. */
export class UnusableWork extends Error {}

export interface Fill {
  readonly from: Guest;
  readonly to: Guest;
  /** Absent: all files, as they are now. */
  readonly commit: string | undefined;
  /** More cannot be in the agent's workspace. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

const STEP_MS = 60_000;
const CARRY_MS = 600_000;
const TOLD_BYTES = 1_000;
/** The repository of the workspace, and none above it. */
const GIT = ['git', '--git-dir=.git'];
/** A clone without all of its history says where that begins. */
const READ_SHALLOW = 'f=$(git --git-dir=.git rev-parse --git-path shallow) && if [ -f "$f" ]; then cat "$f"; fi';

export async function fillWorkspace(fill: Fill): Promise<void> {
  if (fill.commit === undefined) await carry({ ...fill, pack: ['tar', '-cf', '-', '.'], unpack: ['tar', '-xf', '-'], goodEnds: [0, 1] });
  else await carryCommit(fill, fill.commit);
}

/** As a pack of objects, not as a bundle: a bundle needs a name that points to the commit, and HEAD may point elsewhere by now. */
async function carryCommit(fill: Fill, commit: string): Promise<void> {
  const { from, to, signal } = fill;
  if (!/^[0-9a-f]{40,64}$/.test(commit)) throw new UnusableWork(`${JSON.stringify(commit.slice(0, 80))} is no commit`);
  const format = commit.length === 64 ? ['--object-format=sha256'] : [];
  await run(to, { argv: ['git', 'init', '-q', ...format, '.'] }, signal);
  const pack = [...GIT, 'pack-objects', '--revs', '--stdout', '-q', '--delta-base-offset'];
  await carry({ ...fill, pack, packInput: `${commit}\n`, unpack: [...GIT, 'index-pack', '--stdin'], goodEnds: [0] });
  const shallow = await run(from, { command: READ_SHALLOW }, signal);
  if (shallow !== '') await run(to, { command: 'printf %s "$SHALLOW" > .git/shallow', env: { SHALLOW: shallow } }, signal);
  await run(to, { argv: ['git', '-c', 'advice.detachedHead=false', 'checkout', '-q', '--detach', commit] }, signal);
}

interface Step {
  readonly argv?: readonly string[];
  readonly command?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** What it printed. Throws UnusableWork when it fails. */
export async function run(guest: Guest, step: Step, signal: AbortSignal): Promise<string> {
  const { exitCode, stdout, stderr } = await guest.call('exec', { ...step, timeoutMs: STEP_MS }, { signal });
  if (exitCode === 0) return stdout;
  throw new UnusableWork(`${step.argv?.join(' ') ?? step.command} ended with ${exitCode}: ${stderr.slice(0, TOLD_BYTES).trim()}`);
}

interface Carry extends Fill {
  readonly pack: readonly string[];
  readonly packInput?: string;
  readonly unpack: readonly string[];
  /** Of `pack`: tar ends with 1 when a file changed while it was read. */
  readonly goodEnds: readonly number[];
}

async function carry({ from, to, pack, packInput = '', unpack, goodEnds, maxBytes, signal }: Carry): Promise<void> {
  const broken = new AbortController();
  const options = { signal: AbortSignal.any([signal, broken.signal]) };
  const open = (guest: Guest, argv: readonly string[]) => {
    const { result, up, down } = guest.open('execStream', { execId: randomUUID(), argv, hasStdin: true, timeoutMs: CARRY_MS }, options);
    const said = new OutputTail(TOLD_BYTES);
    return { argv, up, down, said, isRead: said.read(down.stderr), ended: settled(result) };
  };
  const source = open(from, pack);
  try {
    const target = open(to, unpack);
    target.down.stdout.resume();
    source.up.stdin.end(packInput);
    const carried = pipeline(source.down.stdout, atMost(maxBytes), target.up.stdin).catch((error: unknown) => {
      broken.abort();
      return error;
    });
    const problem = await carried;
    await Promise.all([source.isRead, target.isRead]);
    signal.throwIfAborted();
    if (problem instanceof UnusableWork) throw problem;
    const isGivenUp = (ended: Ended) => 'error' in ended && ended.error === broken.signal.reason;
    for (const [end, ends] of [[source, goodEnds] as const, [target, [0]] as const]) {
      const ended = await end.ended;
      // It says no more than that something else went wrong.
      if (!isGivenUp(ended)) check(ended, { ...end, goodEnds: ends });
    }
    if (problem !== undefined)
      throw new AgentisoError('Unavailable', `the work was not carried over: ${messageOf(problem)}`, { cause: problem });
  } finally {
    // Whatever still runs of it ends.
    broken.abort();
  }
}

type Ended = { readonly exitCode: number } | { readonly error: unknown };

function settled(result: Promise<{ readonly exitCode: number }>): Promise<Ended> {
  return result.catch((error: unknown) => ({ error }));
}

interface Expected {
  readonly argv: readonly string[];
  readonly goodEnds: readonly number[];
  readonly said: OutputTail;
}

function check(ended: Ended, { argv, goodEnds, said }: Expected): void {
  if ('error' in ended) throw ended.error;
  if (goodEnds.includes(ended.exitCode)) return;
  throw new UnusableWork(`${argv.join(' ')} ended with ${ended.exitCode}: ${said.text.trim()}`);
}

function atMost(maxBytes: number): Transform {
  let room = maxBytes;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      room -= chunk.length;
      if (room < 0) done(new UnusableWork(`the workspace holds more than ${maxBytes} bytes`));
      else done(null, chunk);
    },
  });
}
