/**
 * Standard input and output of one command. Output comes through pipes where there are any, so that it can be opened again by its name. Input
 * always comes through a socket: a named pipe whose writer has said all and gone would hold a program that opens /dev/stdin for ever.
 */
import type { ChildProcess } from 'node:child_process';
import { closeSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import type { Pipe, PipePool } from './pipe-pool.ts';

export interface CommandStreams {
  readonly stdin: Writable | undefined;
  readonly stdout: Readable;
  readonly stderr: Readable;
}

export interface CommandPipes {
  readonly stdio: readonly ['pipe' | 'ignore', 'pipe' | number, 'pipe' | number];
  /** Right after the spawn: the command's ends are closed here. undefined: it did not start. */
  connect(child: ChildProcess): CommandStreams | undefined;
  /** In place of connect, when there was no spawn. */
  close(): void;
}

export async function openPipes(pool: PipePool | undefined, hasStdin: boolean): Promise<CommandPipes> {
  const input = hasStdin ? 'pipe' : 'ignore';
  const [out, err] = (await pool?.take(2)) ?? [];
  if (out === undefined || err === undefined) return { stdio: [input, 'pipe', 'pipe'], connect: toStreams, close: () => {} };
  const connect = () => {
    for (const { writeEnd } of [out, err]) closeSync(writeEnd);
    return { stdout: reader(out), stderr: reader(err) };
  };
  const close = (): undefined => {
    for (const stream of Object.values(connect())) stream.destroy();
  };
  return {
    stdio: [input, out.writeEnd, err.writeEnd],
    connect: ({ pid, stdin }) => (pid === undefined ? close() : { stdin: stdin ?? undefined, ...connect() }),
    close,
  };
}

function toStreams({ pid, stdin, stdout, stderr }: ChildProcess): CommandStreams | undefined {
  if (pid === undefined || stdout === null || stderr === null) return undefined;
  return { stdin: stdin ?? undefined, stdout, stderr };
}

function reader(pipe: Pipe): Readable {
  const socket = new Socket({ fd: pipe.readEnd, readable: true, writable: false });
  socket.once('close', () => pipe.giveBack(socket.readableEnded));
  return socket;
}
