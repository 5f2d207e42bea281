/**
 * exec and attach inside a WebSocket: the protocols v4 and v5.channel.k8s.io. The first byte of a message is its channel; the last message
 * is the Status in which the client finds the exit code.
 */
import type { Readable, Writable } from 'node:stream';
import { written } from '#lib/drained.ts';
import { isObject } from '#lib/json.ts';
import type { AttachedOutput, RunningCommand } from '../agent-io.ts';
import type { WebSocketConnection } from '../websocket/connection.ts';
import { exitStatus, lostStatus } from './exit-status.ts';

export const CHANNEL_PROTOCOLS = ['v5.channel.k8s.io', 'v4.channel.k8s.io'];

const CHANNEL = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4 } as const;
/** Followed by the channel that its sender closes: v5 only. */
const CLOSE = 255;

export interface CommandStream {
  readonly connection: WebSocketConnection;
  readonly command: AttachedOutput | RunningCommand;
  /** Ends the command. */
  readonly abandon: () => void;
}

/** Resolves when both the command and the connection are over. */
export async function serveCommand({ connection, command, abandon }: CommandStream): Promise<void> {
  const reading = readInput(connection, command).then(abandon);
  const [ending] = await Promise.all([
    settled(command.ended),
    sendOutput(connection, CHANNEL.stdout, command.stdout),
    sendOutput(connection, CHANNEL.stderr, command.stderr),
  ]);
  connection.send(channelByte(CHANNEL.error), Buffer.from(JSON.stringify(ending)));
  connection.close(1000);
  await reading;
}

function settled(ended: AttachedOutput['ended']) {
  return ended.then(({ exitCode }) => exitStatus(exitCode), lostStatus);
}

/** An output that breaks is at its end; how the command ended says the rest. */
async function sendOutput(connection: WebSocketConnection, channel: number, output: Readable): Promise<void> {
  try {
    for await (const chunk of output) {
      if (!connection.send(channelByte(channel), chunk as Buffer)) await connection.drained();
    }
  } catch {
    output.destroy();
  }
}

async function readInput(connection: WebSocketConnection, command: AttachedOutput | RunningCommand): Promise<void> {
  const stdin = 'stdin' in command ? command.stdin : undefined;
  // A command that ended, or closed its input, does not want the rest.
  stdin?.on('error', () => {});
  const over = command.ended.then(
    () => {},
    () => {},
  );
  for await (const message of connection.messages()) {
    const [channel] = message;
    if (channel === CHANNEL.stdin && stdin) await Promise.race([written(stdin, message.subarray(1)), over]);
    else if (channel === CHANNEL.resize) resize(command, message.subarray(1));
    else if (channel === CLOSE && message[1] === CHANNEL.stdin) endInput(stdin);
  }
}

function endInput(stdin: Writable | undefined): void {
  if (stdin?.writable) stdin.end();
}

const MAX_SIDE = 10_000;

/** `{"Width":80,"Height":24}`; anything else is passed over, as a window of no size would be. */
export function sizeOf(text: string): { rows: number; cols: number } | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(value)) return undefined;
  const { Width: cols, Height: rows } = value;
  return isSide(rows) && isSide(cols) ? { rows, cols } : undefined;
}

function isSide(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= MAX_SIDE;
}

function resize(command: AttachedOutput, bytes: Buffer): void {
  const size = sizeOf(bytes.toString());
  if (size) command.resize(size.rows, size.cols);
}

function channelByte(channel: number): Buffer {
  return Buffer.from([channel]);
}
