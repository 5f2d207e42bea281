/** A command inside an agent, over a WebSocket: its channels to and from streams of this process, and how it ended. */
import type { Readable, Writable } from 'node:stream';
import type { ClientSocket } from '#client/websocket/socket.ts';
import { written } from '#lib/drained.ts';
import { isObject, type JsonObject } from '#lib/json.ts';

export const CHANNEL_PROTOCOLS = ['v5.channel.k8s.io', 'v4.channel.k8s.io'];

const CHANNEL = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4 } as const;
/** Followed by the channel that is closed; only v5 has it. */
const CLOSE = 255;

export interface CommandEnds {
  readonly stdin?: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  /** Tells sizes of the terminal, the present one first; gives back what ends that. */
  readonly sizes?: (tell: (columns: number, rows: number) => void) => () => void;
}

/** `isOurs`: the command did not end by itself, its output has no reader any more. */
export type Ending = { readonly exitCode: number; readonly isOurs?: true } | { readonly problem: string };

/** What a shell says of a program that SIGPIPE ended. */
const BROKEN_PIPE = 141;

/** Resolves when the server has said how it ended, or has gone without a word. */
export async function runCommand(socket: ClientSocket, { stdin, stdout, stderr, sizes }: CommandEnds): Promise<Ending> {
  const stopSizes = sizes?.((columns, rows) => {
    void socket.send(Buffer.from([CHANNEL.resize]), Buffer.from(JSON.stringify({ Width: columns, Height: rows })));
  });
  const stopInput = stdin ? sendInput(socket, stdin) : () => {};
  let ending: Ending | undefined;
  const lose = ({ code, message }: NodeJS.ErrnoException) => {
    ending ??= code === 'EPIPE' ? { exitCode: BROKEN_PIPE, isOurs: true } : { problem: `cannot write the output: ${message}` };
    socket.close();
  };
  for (const output of [stdout, stderr]) output.on('error', lose);
  try {
    for await (const message of socket.messages()) {
      const bytes = message.subarray(1);
      if (message[0] === CHANNEL.stdout) await written(stdout, bytes);
      else if (message[0] === CHANNEL.stderr) await written(stderr, bytes);
      else if (message[0] === CHANNEL.error && bytes.length > 0) {
        ending ??= endingOf(bytes.toString());
        socket.close();
      }
    }
  } finally {
    stopInput();
    stopSizes?.();
  }
  return ending ?? { problem: 'the connection was lost before the command ended' };
}

/** What is given back ends the reading. */
function sendInput(socket: ClientSocket, stdin: Readable): () => void {
  const begin = Buffer.from([CHANNEL.stdin]);
  let isOver = false;
  const onData = (bytes: Buffer) => {
    stdin.pause();
    void socket.send(begin, Buffer.from(bytes)).then(() => isOver || stdin.resume());
  };
  const onEnd = () => {
    if (socket.protocol.startsWith('v5.')) void socket.send(Buffer.from([CLOSE, CHANNEL.stdin]));
  };
  stdin.on('data', onData);
  stdin.on('end', onEnd);
  stdin.on('error', onEnd);
  return () => {
    isOver = true;
    stdin.off('data', onData);
    stdin.off('end', onEnd);
    // Nothing reads it any more, and a program that waits for it would not end.
    stdin.destroy();
  };
}

/** Of the Status that the server sends last. */
export function endingOf(text: string): Ending {
  const status = parsed(text);
  if (status['status'] === 'Success') return { exitCode: 0 };
  const details = isObject(status['details']) ? status['details'] : {};
  const causes = Array.isArray(details['causes']) ? details['causes'] : [];
  const cause = causes.find((each) => isObject(each) && each['reason'] === 'ExitCode') as { message?: unknown } | undefined;
  const exitCode = Number(cause?.message);
  if (status['reason'] === 'NonZeroExitCode' && Number.isInteger(exitCode)) return { exitCode };
  return { problem: typeof status['message'] === 'string' ? status['message'] : 'the server does not say how the command ended' };
}

function parsed(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    // Then it says nothing that could be understood.
    return {};
  }
}
