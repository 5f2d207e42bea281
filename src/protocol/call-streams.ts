/** All streams of one call, as one side has them. */
import { Buffer } from 'node:buffer';
import { ReceiveStream, SendStream } from './byte-streams.ts';
import type { Side, StreamMessage } from './messages.ts';
import { ProtocolError } from './protocol-error.ts';

/** Sends a frame; resolves when the connection takes more. */
export type SendFrame = (message: StreamMessage) => Promise<void>;

export interface StreamNames {
  readonly sends: readonly string[];
  readonly receives: readonly string[];
}

const NONE = Object.freeze({});

export class CallStreams {
  readonly senders: Readonly<Record<string, SendStream>>;
  readonly receivers: Readonly<Record<string, ReceiveStream>>;

  constructor(id: number, side: Side, { sends, receives }: StreamNames, send: SendFrame) {
    // Most calls have none.
    this.senders =
      sends.length === 0
        ? NONE
        : Object.fromEntries(
            sends.map((stream) => [
              stream,
              new SendStream({
                data: (bytes) => send({ id, type: 'data', side, stream, data: bytes.toString('base64') }),
                eof: () => void send({ id, type: 'eof', side, stream }),
              }),
            ]),
          );
    this.receivers =
      receives.length === 0
        ? NONE
        : Object.fromEntries(
            receives.map((stream) => [stream, new ReceiveStream((bytes) => void send({ id, type: 'credit', side, stream, bytes }))]),
          );
  }

  /** Throws for what must close the connection. */
  take(message: StreamMessage): void {
    if (message.type === 'credit') {
      named(this.senders, message.stream).grant(message.bytes);
      return;
    }
    const receiver = named(this.receivers, message.stream);
    if (message.type === 'eof') receiver.end();
    else receiver.receive(Buffer.from(message.data, 'base64'));
  }

  /** Ends what this side sends and waits until the other side had room for all of it. */
  async flush(): Promise<void> {
    await Promise.all(Object.values(this.senders).map(ended));
  }

  /** The call is over: nobody reads what is still to be sent, and nothing more will come. */
  stop(): void {
    if (this.senders === NONE && this.receivers === NONE) return;
    for (const sender of Object.values(this.senders)) sender.destroy();
    for (const receiver of Object.values(this.receivers)) receiver.cut();
  }
}

function ended(sender: SendStream): Promise<void> {
  return new Promise((resolve) => {
    if (sender.writableFinished || sender.destroyed) return resolve();
    sender.once('finish', resolve);
    sender.once('close', resolve);
    sender.end();
  });
}

function named<T>(streams: Readonly<Record<string, T>>, name: string): T {
  const stream = Object.hasOwn(streams, name) ? streams[name] : undefined;
  if (stream === undefined) throw new ProtocolError('Invalid', `this call has no stream ${JSON.stringify(name.slice(0, 64))}`);
  return stream;
}
