/** exec and attach as kubectl up to 1.29 speaks them, and newer ones fall back to: a SPDY session with one stream for each of the channels. */
import type { Readable } from 'node:stream';
import type { AttachedOutput, RunningCommand } from '../agent-io.ts';
import { type Carrier, SpdySession } from '../spdy/session.ts';
import type { SpdyStream } from '../spdy/stream.ts';
import { sizeOf } from './exec.ts';
import { exitStatus, lostStatus } from './exit-status.ts';

/** In which the last word is a Status, and terminals can be resized. */
export const EXEC_STREAMS = 'v4.channel.k8s.io';
/** Then a client has opened all the streams it ever will. */
const OPENING_MS = 30_000;

export interface SpdyCommand {
  readonly carrier: Carrier;
  readonly command: AttachedOutput | RunningCommand;
  /** Those of stdin, stdout, stderr that were asked for. */
  readonly wanted: readonly string[];
  readonly isTerminal: boolean;
  readonly abandon: () => void;
  readonly signal: AbortSignal;
}

/** Resolves when both the command and the connection are over. */
export async function serveSpdyCommand({ carrier, command, wanted, isTerminal, abandon, signal }: SpdyCommand): Promise<void> {
  const streams = new Map<string, SpdyStream>();
  const expected = ['error', ...wanted, ...(isTerminal ? ['resize'] : [])];
  let opened = () => {};
  const allOpen = new Promise<void>((resolve) => {
    opened = resolve;
  });
  const session = new SpdySession(carrier, (stream) => {
    const { streamtype: type = '' } = stream.headers;
    if (!expected.includes(type) || streams.has(type)) stream.destroy();
    else streams.set(type, stream);
    if (streams.size === expected.length) opened();
  });
  const close = () => session.close();
  signal.addEventListener('abort', close, { once: true });
  const running = session.run().then(abandon);
  const late = setTimeout(close, OPENING_MS).unref();
  await Promise.race([allOpen, running]);
  clearTimeout(late);
  await serveStreams(command, streams);
  await Promise.race([drainedSession(streams), running]);
  session.close();
  await running;
  signal.removeEventListener('abort', close);
}

async function serveStreams(command: AttachedOutput | RunningCommand, streams: ReadonlyMap<string, SpdyStream>): Promise<void> {
  const stdin = 'stdin' in command ? command.stdin : undefined;
  stdin?.on('error', () => {});
  if (stdin) streams.get('stdin')?.pipe(stdin);
  streams.get('resize')?.on('data', (bytes: Buffer) => {
    const size = sizeOf(bytes.toString());
    if (size) command.resize(size.rows, size.cols);
  });
  const [ending] = await Promise.all([
    command.ended.then(({ exitCode }) => exitStatus(exitCode), lostStatus),
    sendOutput(command.stdout, streams.get('stdout')),
    sendOutput(command.stderr, streams.get('stderr')),
  ]);
  streams.get('error')?.end(JSON.stringify(ending));
}

/** What nobody wants is read all the same, or the command would wait for a reader. */
function sendOutput(output: Readable, stream: SpdyStream | undefined): Promise<void> {
  const over = new Promise<void>((resolve) => output.on('close', resolve).on('error', () => output.destroy()));
  if (!stream) output.resume();
  else {
    output.pipe(stream);
    stream.on('close', () => output.resume());
  }
  return output.closed ? Promise.resolve() : over;
}

/** Everything sent: then the client knows all there is to know. */
function drainedSession(streams: ReadonlyMap<string, SpdyStream>): Promise<unknown> {
  const sending = ['stdout', 'stderr', 'error'].flatMap((type) => streams.get(type) ?? []);
  return Promise.all(
    sending.map((stream) =>
      stream.writableFinished || stream.destroyed
        ? undefined
        : new Promise<void>((resolve) => stream.on('finish', resolve).on('close', () => resolve())),
    ),
  );
}
