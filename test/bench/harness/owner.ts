/** Closes what an operation opened, last first, also when opening stopped halfway. */
import type { Closable } from './operation.ts';

export interface Owner {
  own<T extends Closable>(thing: T): T;
  /** Tries to close everything, then throws the first failure. */
  closeAll(): Promise<void>;
}

export function makeOwner(): Owner {
  const owned: Closable[] = [];
  return {
    own(thing) {
      owned.push(thing);
      return thing;
    },
    async closeAll() {
      const failures: unknown[] = [];
      for (const thing of owned.splice(0).reverse()) await thing.close().catch((error: unknown) => failures.push(error));
      if (failures.length > 0) throw failures[0];
    },
  };
}

/** Runs `work` with a fresh owner. A failure of the work wins over the failures to close that follow from it. */
export async function withOwner<T>(work: (owner: Owner) => Promise<T>): Promise<T> {
  const owner = makeOwner();
  let result: T;
  try {
    result = await work(owner);
  } catch (error) {
    await owner.closeAll().catch(() => undefined);
    throw error;
  }
  await owner.closeAll();
  return result;
}
