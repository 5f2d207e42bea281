/**
 * Room on the disk for what a guest has to write when programs have taken all the rest: mail, and what came out of a task. A machine has one disk for
 * both, and its programs may take what is reserved for root; so a file of nothing holds the room, and goes when a write finds the disk full.
 */
import { join } from 'node:path';
import { lazy } from '../lazy-modules.ts';

/** A result and the mail of a day are less. */
export const RESERVE_BYTES = 2 * 1024 * 1024;

export class Reserve {
  readonly #path: string;

  constructor(stateDir: string) {
    this.#path = join(stateDir, 'reserve');
  }

  /** Made where it is missing. What there is no room for is tried again with the next call. */
  async keep(): Promise<void> {
    const { size } = await lazy.files.stat(this.#path).catch(() => ({ size: 0 }));
    if (size === RESERVE_BYTES) return;
    await lazy.files.writeFile(this.#path, Buffer.alloc(RESERVE_BYTES), { mode: 0o600 }).catch(() => this.spend());
  }

  /** True: there was something to give up. */
  async spend(): Promise<boolean> {
    return lazy.files.unlink(this.#path).then(
      () => true,
      () => false,
    );
  }
}

export function isFull(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'ENOSPC' || code === 'EDQUOT';
}
