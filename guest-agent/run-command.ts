/** Runs one command from its start to the last byte of its output, and keeps as much of that as one answer takes. */
import type { Buffer } from 'node:buffer';
import { Output, type Outputs } from './output.ts';
import { type CommandExit, type CommandStart, startCommand } from './started-command.ts';

export interface Command extends Omit<CommandStart, 'hasStdin' | 'hasReport'> {
  /** Sees every byte of output, also what is not kept. */
  readonly onOutput?: (stream: 'stdout' | 'stderr', chunk: Buffer) => void;
}

export interface CommandEnd extends CommandExit, Outputs {}

/** Rejects when the command cannot be started. */
export async function runCommand({ onOutput, ...start }: Command): Promise<CommandEnd> {
  const command = await startCommand(start);
  const stdout = new Output(command.stdout);
  const stderr = new Output(command.stderr);
  if (onOutput !== undefined) {
    command.stdout.on('data', (chunk: Buffer) => onOutput('stdout', chunk));
    command.stderr.on('data', (chunk: Buffer) => onOutput('stderr', chunk));
  }
  const exit = await command.exited;
  await command.drained();
  return { ...exit, stdout: stdout.read(), stderr: stderr.read() };
}
