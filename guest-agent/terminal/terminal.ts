/** Starts commands on terminals, changes their size, and ends the whole session that such a command is. */
import { execFile } from 'node:child_process';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import type { ExecStreamParams } from '#protocol/control.ts';
import { ProtocolError } from '#protocol/protocol-error.ts';
import type { Family } from '../process-group.ts';
import { type CommandStart, type StartedCommand, startCommand } from '../started-command.ts';
import { parseReport, type TerminalReport, type TerminalSize, terminalArgv } from './terminal-command.ts';

const STTY_MS = 5_000;

type Terminal = NonNullable<ExecStreamParams['tty']>;

const run = promisify(execFile);

/** Like a plain command, but `stdout` has what the terminal shows, `stderr` nothing of the command, and `resize` works. */
export interface TerminalCommand extends StartedCommand {
  resize(size: TerminalSize): Promise<void>;
}

export async function startTerminal(start: CommandStart, { term = 'xterm', ...size }: Terminal): Promise<TerminalCommand> {
  const { groups } = start;
  const argv = terminalArgv(start.argv, size, start.env['SHELL']);
  const env = { ...start.env, SHELL: '/bin/sh', TERM: term };
  // The session is not in the group of `script`, and a terminal that goes away hangs up on its foreground only.
  const sessions: Family[] = [];
  // Input stays open when nobody types: its end would be typed as Ctrl-D.
  const command = await startCommand({ ...start, argv, env, hasStdin: true, hasReport: true, alsoEnd: sessions }).catch(explainMissing);
  const { sessionId, device } = await readReport(command);
  sessions.push({ kind: 'session', id: sessionId });
  groups.add(sessionId, 'session');
  // One after the other, so that the last size is the one that stays.
  let resized: Promise<unknown> = Promise.resolve();
  return {
    ...command,
    exited: command.exited.finally(() => groups.delete(sessionId)),
    resize(to) {
      const done = resized.then(() => resize(device, to));
      resized = done.catch(() => {});
      return done;
    },
  };
}

function explainMissing(error: unknown): never {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  throw new ProtocolError(
    'Unavailable',
    'a terminal needs the program script in the workspace: install the package bsdutils (Debian, Ubuntu) or util-linux (others)',
    error,
  );
}

/** `script` keeps the report open for as long as it runs: the first line is the report, an end without one means that it failed. */
async function readReport(command: StartedCommand): Promise<TerminalReport> {
  // Asked for only where there is no report; one that breaks off must not end the guest.
  const complaint = text(command.stderr).catch(() => '');
  const report = parseReport(await firstLine(command.report));
  if (report !== undefined) return report;
  await command.exited;
  throw new ProtocolError('Unavailable', `no terminal could be made: ${(await complaint).trim() || 'script ended at once'}`);
}

async function firstLine(report: Readable | undefined): Promise<string> {
  let line = '';
  for await (const chunk of report ?? []) {
    line += String(chunk);
    if (line.includes('\n')) break;
  }
  return line;
}

async function resize(device: string, { rows, columns }: TerminalSize): Promise<void> {
  await run('stty', ['-F', device, 'rows', String(rows), 'cols', String(columns)], { timeout: STTY_MS });
}
