/** Two ends of one real unix socket connection. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface SocketPair {
  readonly near: Socket;
  readonly far: Socket;
  destroy(): void;
}

export async function socketPair(): Promise<SocketPair> {
  const directory = await mkdtemp(join(tmpdir(), 'agentiso-pair-'));
  const server = createServer();
  server.listen(join(directory, 's'));
  await once(server, 'listening');
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const near = connect(join(directory, 's'));
  const [far] = await accepted;
  server.close();
  await rm(directory, { recursive: true });
  const destroy = () => {
    near.destroy();
    far.destroy();
  };
  return { near, far, destroy };
}
