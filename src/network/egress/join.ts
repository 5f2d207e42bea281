/** Two streams as one connection: what ends in one direction ends there alone, and a reader that stalls holds its writer back. */
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** With `idleMs`, both are cut when neither has said anything for so long. */
export function join(a: Duplex, b: Duplex, { idleMs }: { readonly idleMs?: number } = {}): void {
  follow(a, b);
  follow(b, a);
  if (idleMs === undefined) return;
  const timer = setTimeout(() => {
    cut(a);
    cut(b);
  }, idleMs).unref();
  for (const side of [a, b]) {
    side.on('data', () => timer.refresh());
    side.on('close', () => clearTimeout(timer));
  }
}

function follow(from: Duplex, to: Duplex): void {
  from.on('error', () => cut(to));
  // Closed without having said so: what arrived until then must not look complete.
  from.on('close', () => {
    if (!to.writableEnded) cut(to);
  });
  if (from.destroyed) cut(to);
  else from.pipe(to);
}

function cut(stream: Duplex): void {
  // A pipe has no reset; it just ends.
  if (stream instanceof Socket && stream.remoteFamily !== undefined && !stream.destroyed) stream.resetAndDestroy();
  else stream.destroy();
}
