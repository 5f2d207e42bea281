/**
 * Whether anybody still reads what this program prints. A write would say so; whoever waits for something to print may wait for long. The system
 * call that tells is not among node's own.
 */
import { realpathSync } from 'node:fs';

const LOOK_MS = 500;
/** The reader is gone, of a pipe; of a socket or a terminal. */
const POLLERR = 8;
const POLLHUP = 16;

/** `onGone` is called once. Where it cannot be told, never: then the next write says it. */
export function watchReader(descriptor: number, onGone: () => void): void {
  const isGone = loadLook(descriptor);
  if (isGone === undefined) return;
  const timer = setInterval(() => {
    if (!isGone()) return;
    clearInterval(timer);
    onGone();
  }, LOOK_MS).unref();
}

function loadLook(descriptor: number): (() => boolean) | undefined {
  try {
    // From where the program lies: it may be one file, which knows nothing of modules.
    const load = process.getBuiltinModule('node:module').createRequire(realpathSync(process.argv[1] ?? ''));
    const poll = (load('koffi') as typeof import('koffi')).load(null).func('int poll(_Inout_ uint8_t *, unsigned long, int)');
    return () => {
      // struct pollfd: the descriptor, what is asked for (nothing: these two are always told), what is so.
      const asked = Buffer.alloc(8);
      asked.writeInt32LE(descriptor, 0);
      return poll(asked, 1, 0) > 0 && (asked.readInt16LE(6) & (POLLERR | POLLHUP)) !== 0;
    };
  } catch {
    return undefined;
  }
}
