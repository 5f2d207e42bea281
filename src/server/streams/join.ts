/** Two ends of one connection, joined: what comes from one goes to the other, each direction ends for itself, and a break ends both. */
import type { Duplex } from 'node:stream';

/** Resolves when both are over. Rejects with what broke `target`. */
export function join(client: Duplex, target: Duplex): Promise<void> {
  return new Promise((resolve, reject) => {
    let problem: Error | undefined;
    const over = () => {
      if (!client.closed || !target.closed) return;
      if (problem) reject(problem);
      else resolve();
    };
    client.on('error', () => target.destroy());
    target.on('error', (error) => {
      problem = error;
      client.destroy();
    });
    client.on('close', () => {
      if (!target.writableFinished || !target.readableEnded) target.destroy();
      over();
    });
    target.on('close', () => {
      if (!target.readableEnded) client.destroy();
      over();
    });
    client.pipe(target);
    target.pipe(client);
    if (client.destroyed) target.destroy();
  });
}
