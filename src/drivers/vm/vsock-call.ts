/**
 * A guest calls its host when it can be reached by vsock, and until it was answered. Nobody may come earlier: vhost-device-vsock 0.3.0 ends its work without a word
 * when somebody connects at the moment at which the guest's driver takes the device into use.
 */
import { stat } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { callSocket } from '#guest/vsock-port.ts';
import { listenAt } from '#lib/listen-at.ts';
import { SOCKETS } from './args.ts';

export interface Call {
  /** Directory with the sockets of the machine. */
  readonly run: string;
  /** Awaited before the answer: what is not told again must not be forgotten. */
  onCalled(): Promise<void>;
}

/** Resolves when the call was answered. */
export async function answerCall({ run, onCalled }: Call, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  let settle: { resolve(): void; reject(error: unknown): void } = { resolve() {}, reject() {} };
  const answered = new Promise<void>((resolve, reject) => {
    settle = { resolve, reject };
  });
  // It may be given up before anybody waits for it.
  answered.catch(() => undefined);
  const callers = new Set<Socket>();
  const server = createServer((socket) => {
    callers.add(socket.on('error', () => {}).resume());
    onCalled().then(
      () => socket.end('ok\n', settle.resolve),
      (error: unknown) => {
        socket.destroy();
        settle.reject(error);
      },
    );
  });
  const giveUp = () => settle.reject(signal.reason);
  signal.addEventListener('abort', giveUp, { once: true });
  // Of whoever runs QEMU, and what connects for the guest.
  const { uid } = await stat(run);
  const socket = await listenAt(server, join(run, callSocket(SOCKETS.vsock)), process.getuid?.() === 0 ? uid : undefined);
  try {
    await answered;
  } finally {
    signal.removeEventListener('abort', giveUp);
    for (const caller of callers) caller.destroy();
    await socket.close();
  }
}
