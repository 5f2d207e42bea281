/** A client that knows whether anything was written through it: who has written nothing need not look again. */
import type { Client } from '#client/client.ts';

export interface CountedWrites extends Client {
  readonly writes: () => number;
}

export function countWrites(client: Client): CountedWrites {
  let writes = 0;
  const counted =
    <A extends unknown[], R>(write: (...args: A) => R) =>
    (...args: A): R => {
      writes += 1;
      return write(...args);
    };
  return {
    get: client.get,
    list: client.list,
    watch: client.watch,
    create: counted(client.create) as Client['create'],
    update: counted(client.update) as Client['update'],
    updateStatus: counted(client.updateStatus) as Client['updateStatus'],
    apply: counted(client.apply) as Client['apply'],
    delete: counted(client.delete),
    writes: () => writes,
  };
}
