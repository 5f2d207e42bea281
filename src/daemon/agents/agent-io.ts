/** What the API asks of running agents, asked over their sessions. */
import { randomUUID } from 'node:crypto';
import { Duplex, PassThrough, type Readable } from 'node:stream';
import type { Driver } from '#drivers/driver.ts';
import type { Session, Sessions } from '#guest/sessions.ts';
import { NotFoundError, UnavailableError } from '#lib/errors.ts';
import { timeLimit } from '#lib/time-limit.ts';
import type { LogsParams } from '#protocol/control.ts';
import type { AgentIo, AgentReference, AgentUsage, AttachedOutput, LogQuery, RunningCommand } from '#server/agent-io.ts';

export interface AgentIoDeps {
  readonly sessions: Sessions;
  /** Where the agent's workspace is; undefined when it has none. */
  readonly driverOf: (uid: string) => Driver | undefined;
  /** Told of every command that is run; absent: nobody counts. */
  readonly onExec?: ExecListener;
}

/** `outcome` is undefined for a command of which it is not known how it ended. */
export type ExecListener = (outcome: { readonly exitCode: number } | undefined, elapsedMs: number) => void;

/** A terminal that says nothing of its kind is taken for the commonest. */
const TERM = 'xterm-256color';

/** For how long an agent that runs is waited for: after a start of the daemon its session is soon there. */
const CONNECT_MS = 5_000;

export function createAgentIo(deps: AgentIoDeps): AgentIo {
  const { driverOf } = deps;
  const sessionOf = (agent: AgentReference, signal: AbortSignal) => connectedSession(agent, deps, signal);
  const samples = new Map<string, Sample>();
  return {
    async logs(agent, query, signal) {
      return logStream(await sessionOf(agent, signal), toLogsParams(query, Date.now()), signal);
    },
    async exec(agent, { argv, tty, hasStdin }, signal) {
      const running = runCommand(await sessionOf(agent, signal), { argv, hasStdin, ...(tty && { tty }) }, signal);
      listen(running.ended, deps.onExec);
      return running;
    },
    async attach(agent, signal) {
      const lines = logStream(await sessionOf(agent, signal), { follow: true, timestamps: false, tailLines: 0 }, signal);
      return attached(lines);
    },
    async portForward(agent, port, signal) {
      return forwardPort(await sessionOf(agent, signal), port, signal);
    },
    async usage(agents) {
      const found = await Promise.all(agents.map(async ({ uid }) => [uid, await usageOf(uid, driverOf(uid), samples)] as const));
      return new Map(found.filter((entry): entry is readonly [string, AgentUsage] => entry[1] !== undefined));
    },
  };
}

/** The guest knows ages, the API times: their clocks need not agree. Runs of an agent share one log. */
export function toLogsParams({ previous, sinceMs, ...query }: LogQuery, nowMs: number): LogsParams {
  if (previous) throw new NotFoundError('an agent has one log for all of its runs; leave out --previous');
  return sinceMs === undefined ? query : { ...query, maxAgeMs: Math.max(0, nowMs - sinceMs) };
}

/** Waits a little while for one whose workspace runs. */
export async function connectedSession(
  { name, uid }: AgentReference,
  { sessions, driverOf, waitMs = CONNECT_MS }: AgentIoDeps & { readonly waitMs?: number },
  signal: AbortSignal,
): Promise<Session> {
  const connected = () => (sessions.get(uid)?.state.isControlOpen ? sessions.get(uid) : undefined);
  const workspace = connected() === undefined ? await driverOf(uid)?.get(uid, signal) : undefined;
  if (workspace?.isSuspended) throw suspended(name);
  if (workspace && workspace.phase !== 'exited') await connecting(sessions, () => connected() !== undefined, { waitMs, signal });
  const session = connected();
  if (session) return session;
  const why = sessions.get(uid)?.state.problem ?? 'its workspace does not run';
  throw new UnavailableError(`agent ${name} cannot be reached: ${why}`, { reason: 'AgentUnavailable' });
}

function suspended(name: string): UnavailableError {
  return new UnavailableError(`agent ${name} is suspended; to let it go on: agentiso resume ${name}`, { reason: 'AgentSuspended' });
}

function connecting(
  sessions: Sessions,
  isConnected: () => boolean,
  { waitMs, signal }: { readonly waitMs: number; readonly signal: AbortSignal },
): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      unsubscribe();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const look = () => {
      if (isConnected() || signal.aborted) end();
    };
    const timer = setTimeout(end, waitMs);
    const unsubscribe = sessions.onChange(look);
    signal.addEventListener('abort', end);
    look();
  });
}

function logStream(session: Session, query: LogsParams, signal: AbortSignal): Readable {
  const { result, down } = session.open('logs', query, { signal });
  // The stream itself tells of its end; a reader that left needs no second word.
  result.catch(() => down.lines.destroy());
  return down.lines;
}

interface Command {
  readonly argv: readonly string[];
  readonly hasStdin: boolean;
  readonly tty?: { readonly rows: number; readonly cols: number };
}

function runCommand(session: Session, { argv, hasStdin, tty }: Command, signal: AbortSignal): RunningCommand {
  const execId = randomUUID();
  const terminal = tty && { tty: { rows: tty.rows, columns: tty.cols, term: TERM } };
  const { result, up, down } = session.open('execStream', { execId, argv, hasStdin, ...terminal }, { signal });
  return {
    stdin: up.stdin,
    stdout: down.stdout,
    stderr: down.stderr,
    resize(rows, columns) {
      // A size that comes too late belongs to a command that has ended.
      session.call('execResize', { execId, rows, columns }).catch(() => {});
    },
    ended: result.then(({ exitCode }) => ({ exitCode })),
  };
}

/** Whoever asked hears of a failure; here it is only counted. */
export function listen(ended: Promise<{ readonly exitCode: number }>, onExec: ExecListener = () => {}): void {
  const startedMs = performance.now();
  ended.then(
    (outcome) => onExec(outcome, performance.now() - startedMs),
    () => onExec(undefined, performance.now() - startedMs),
  );
}

function attached(lines: Readable): AttachedOutput {
  const stderr = new PassThrough();
  stderr.end();
  const ended = new Promise<{ exitCode: number }>((resolve) => {
    lines.once('close', () => resolve({ exitCode: 0 }));
  });
  return { stdout: lines, stderr, resize() {}, ended };
}

/** Rejects when nothing listens there; a connection that breaks later ends like any other. */
export function forwardPort(session: Session, port: number, signal: AbortSignal): Duplex {
  const { result, up, down } = session.open('portForward', { port }, { signal });
  const both = Duplex.from({ writable: up.data, readable: down.data });
  result.catch((error: unknown) => both.destroy(error instanceof Error ? error : new Error(String(error))));
  return both;
}

interface Sample {
  readonly atMs: number;
  readonly cpuMs: number;
}

/** Processor use since the last time somebody asked; since its start for the first. */
async function usageOf(uid: string, driver: Driver | undefined, samples: Map<string, Sample>): Promise<AgentUsage | undefined> {
  const usage = await driver?.usage(uid, timeLimit(5_000));
  if (usage === undefined) {
    samples.delete(uid);
    return undefined;
  }
  const now = { atMs: performance.now(), cpuMs: usage.cpuMs };
  const before = samples.get(uid);
  samples.set(uid, now);
  const elapsedMs = before === undefined ? 0 : now.atMs - before.atMs;
  const cpuMillicores = before === undefined || elapsedMs <= 0 ? 0 : Math.round(((now.cpuMs - before.cpuMs) / elapsedMs) * 1_000);
  return { cpuMillicores: Math.max(0, cpuMillicores), memoryBytes: usage.memoryBytes };
}
