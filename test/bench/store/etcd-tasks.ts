/** etcd as the reference: the same objects as JSON under one prefix, every put counted at the end. */
import { setTimeout as delay } from 'node:timers/promises';
import { type BenchContext, BenchError } from '../harness/operation.ts';
import { encodeTask, makeTask } from '../objects.ts';
import { startEtcd } from '../peers/etcd.ts';
import { type EtcdClient, encodePut } from '../peers/etcd-client.ts';

export const PREFIX = '/bench/tasks/';
/** etcd commits its database every 100 ms; that must not fall into the next contestant's time. */
const SETTLE_MS = 120;

export interface EtcdTasks {
  readonly client: EtcdClient;
  /** A new revision of object `index` (modulo the number of objects): the encoded put, and the value a watcher will see. */
  next(index: number): { readonly request: Buffer; readonly value: Buffer };
  settle(): Promise<void>;
}

/** `encode` makes the bytes of a revision of object `index`, below `size`; they differ with each. */
export async function openEtcdTasks({ dir, own }: BenchContext, size: number, encode = encodeTask): Promise<EtcdTasks> {
  const { client } = own(await startEtcd(dir));
  const keys = Array.from({ length: size }, (_, index) => `${PREFIX}${makeTask(index).metadata.name}`);
  let revision = 0;
  const next: EtcdTasks['next'] = (index) => {
    revision += 1;
    const value = encode(index % size, revision);
    return { request: encodePut(keys[index % size] ?? '', value), value };
  };
  const before = await client.stats(PREFIX);
  await Promise.all(keys.map((_, index) => client.put(next(index).request)));
  own({
    async close() {
      // Every request made was put exactly once, and every put moves etcd's revision by one.
      const after = await client.stats(PREFIX);
      const puts = after.revision - before.revision;
      if (after.count !== size || puts !== revision) throw new BenchError(`etcd counted ${puts} puts instead of ${revision}`);
    },
  });
  return { client, next, settle: () => delay(SETTLE_MS) };
}
