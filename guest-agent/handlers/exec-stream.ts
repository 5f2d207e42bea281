/** execStream and execResize: one command whose input and output flow while it runs, on a terminal if one is asked for. */
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ControlHandlers, ExecStreamParams } from '#protocol/control.ts';
import type { CallContext } from '#protocol/method.ts';
import { ProtocolError } from '#protocol/protocol-error.ts';
import type { Guest } from '../guest.ts';
import { type CommandStart, type StartedCommand, startCommand } from '../started-command.ts';
import { startTerminal, type TerminalCommand } from '../terminal/terminal.ts';
import type { TerminalSize } from '../terminal/terminal-command.ts';
import { checkNotStopping, startFailure, toCommand } from './command.ts';

type Context = CallContext<'stdin', 'stdout' | 'stderr'>;

interface OpenTerminal {
  /** The latest that was asked for. */
  size: TerminalSize;
  readonly started: Promise<TerminalCommand>;
}

export function execStreamHandlers(guest: Guest): Pick<ControlHandlers, 'execStream' | 'execResize'> {
  /** Those that run or are about to, by the id their caller chose. */
  const terminals = new Map<string, OpenTerminal>();
  return {
    async execStream(params, context) {
      checkNotStopping(guest);
      const { execId, tty } = params;
      if (terminals.has(execId)) throw new ProtocolError('Conflict', `an exec with the id ${execId} is already running`);
      const call = { params, context };
      if (tty === undefined) return runPlain(guest, call);
      const terminal = openTerminal(guest, call, tty);
      // Before anything is waited for: callers send the size of their own terminal right behind this call.
      terminals.set(execId, terminal);
      return run(terminal.started, call).finally(() => terminals.delete(execId));
    },
    async execResize({ execId, rows, columns }) {
      const open = terminals.get(execId);
      if (open !== undefined) open.size = { rows, columns };
      const terminal = await open?.started.catch(() => undefined);
      if (terminal === undefined) throw new ProtocolError('NotFound', `no exec with the id ${execId} has a terminal here`);
      await terminal.resize({ rows, columns });
      return {};
    },
  };
}

interface Call {
  readonly params: ExecStreamParams;
  readonly context: Context;
}

async function run(started: Promise<StartedCommand>, call: Call): Promise<{ exitCode: number; timedOut: boolean }> {
  const command = await started.catch((error: unknown) => failStart(error, call.context));
  return command === undefined ? { exitCode: -1, timedOut: false } : follow(command, call);
}

/** Files come that way, too, as archives: whoever has sent them relies on them. */
async function runPlain(guest: Guest, call: Call): Promise<{ exitCode: number; timedOut: boolean }> {
  const end = await run(startPlain(guest, call), call);
  if (call.params.hasStdin) await guest.syncFiles?.().catch((error: unknown) => guest.log.write('guest', String(error)));
  return end;
}

async function startPlain(guest: Guest, call: Call): Promise<StartedCommand> {
  return startCommand(await toStart(guest, call));
}

function openTerminal(guest: Guest, call: Call, tty: NonNullable<ExecStreamParams['tty']>): OpenTerminal {
  const start = async () => {
    const options = await toStart(guest, call);
    return startTerminal(options, { ...tty, ...open.size });
  };
  const open: OpenTerminal = { size: { rows: tty.rows, columns: tty.columns }, started: start() };
  return open;
}

async function toStart(guest: Guest, { params, context: { signal } }: Call): Promise<CommandStart> {
  const { hasStdin, timeoutMs } = params;
  return { ...(await toCommand(guest, params)), timeoutMs, hasStdin, signal };
}

/** As with exec, a command that cannot be started is a result; that there are no terminals here is an error. */
async function failStart(error: unknown, { down }: Context): Promise<undefined> {
  if (error instanceof ProtocolError && error.code === 'Unavailable') throw error;
  down.stderr.write(`${startFailure(error)}\n`);
}

async function follow(command: StartedCommand, { params, context }: Call): Promise<{ exitCode: number; timedOut: boolean }> {
  const { up, down } = context;
  const hasTerminal = params.tty !== undefined;
  if (params.hasStdin && command.stdin !== undefined) feed(up.stdin, command.stdin);
  else up.stdin.resume();
  const outputs = [pass(command.stdout, down.stdout), hasTerminal ? undefined : pass(command.stderr, down.stderr)];

  const { exitCode, stoppedBy } = await command.exited;
  command.stdin?.destroy();
  const isHeldBack = () => [down.stdout, down.stderr].some((stream) => stream.writableNeedDrain && !stream.destroyed);
  await command.drained(isHeldBack);
  await Promise.all(outputs);
  return { exitCode: stoppedBy === undefined ? exitCode : -1, timedOut: stoppedBy === 'timeout' };
}

/** A command that does not read its input, or no longer, is nothing special. */
function feed(from: Readable, to: Writable): void {
  to.on('error', () => {
    from.unpipe(to);
    from.resume();
  });
  from.pipe(to);
}

/** A reader that is gone ends the call by its signal; output that is cut off ends here without a word. */
async function pass(from: Readable, to: Writable): Promise<void> {
  await pipeline(from, to, { end: false }).catch(() => from.resume());
}
