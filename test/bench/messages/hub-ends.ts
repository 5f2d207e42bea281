/** The least that a relay between two processes can be: lines over unix sockets, passed on by a third, nothing on disk. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { ReceivingEnd, SendingEnd } from './end.ts';

const RECEIVER = 'receiver';
const ACCEPTED = 'accepted';

/** Passes every line of a sender on to the receiver, and says so to the sender. */
export async function serveHub(socketPath: string): Promise<void> {
  let receiver: Socket | undefined;
  const server = createServer((socket) => {
    createInterface({ input: socket }).on('line', (line) => {
      if (line === RECEIVER) {
        receiver = socket;
        return;
      }
      const { text } = JSON.parse(line) as { text: string };
      receiver?.write(`${JSON.stringify({ text })}\n`);
      socket.write(`${ACCEPTED}\n`);
    });
  });
  await once(server.listen(socketPath), 'listening');
}

export async function hubSender(socketPath: string): Promise<SendingEnd> {
  const socket = await open(socketPath);
  const waiting: (() => void)[] = [];
  createInterface({ input: socket }).on('line', () => waiting.shift()?.());
  return {
    send(to, text) {
      socket.write(`${JSON.stringify({ to, text })}\n`);
      return new Promise((resolve) => waiting.push(resolve));
    },
  };
}

export async function hubReceiver(socketPath: string): Promise<ReceivingEnd> {
  const socket = await open(socketPath);
  socket.write(`${RECEIVER}\n`);
  return {
    onText(listener) {
      createInterface({ input: socket }).on('line', (line) => listener((JSON.parse(line) as { text: string }).text));
    },
  };
}

async function open(socketPath: string): Promise<Socket> {
  const socket = connect(socketPath);
  await once(socket, 'connect');
  return socket;
}
