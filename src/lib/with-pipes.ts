/**
 * Where no descriptor is left, node gives a child that has no pipes and tells why a moment later. Whoever takes a pipe first never
 * hears it, and an `error` that nobody hears ends this process.
 */
import type { ChildProcess } from 'node:child_process';

/** Around `spawn`. Throws instead; every other failure to start comes as the event `error`, as always. */
export function withPipes<Child extends ChildProcess>(child: Child): Child {
  // Otherwise it is an array, whatever was asked for.
  if ((child.stdio as unknown) !== undefined) return child;
  child.on('error', () => {});
  throw Object.assign(new Error('too many open files'), { code: 'EMFILE' });
}
