/** The benchmark's etcd client is fair only if it is right: the same calls against a real etcd. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeScratch, type Scratch } from '../bench/harness/scratch.ts';
import { type Etcd, etcdVersion, startEtcd } from '../bench/peers/etcd.ts';
import { encodePut } from '../bench/peers/etcd-client.ts';
import { requires } from '../support/requirements.ts';

requires(etcdVersion() !== undefined, 'etcd is not installed (apt-get install etcd-server)')('etcd client against a real etcd', () => {
  let scratch: Scratch;
  let etcd: Etcd;

  beforeAll(async () => {
    scratch = makeScratch();
    etcd = await startEtcd(scratch.dir);
  }, 30_000);

  afterAll(async () => {
    await etcd?.close();
    scratch.remove();
  });

  it('reads back what it put', async () => {
    const value = Buffer.from(`value ${randomUUID()} ${'x'.repeat(1_400)}`);
    await etcd.client.put(encodePut('/get/a', value));
    expect(await etcd.client.get('/get/a')).toEqual(value);
    expect(await etcd.client.get('/get/missing')).toBeUndefined();
  });

  it('counts keys under a prefix and moves the revision by one per put', async () => {
    const before = await etcd.client.stats('/count/');
    for (const key of ['/count/a', '/count/b', '/count/a', '/counted']) await etcd.client.put(encodePut(key, Buffer.from(key)));
    const after = await etcd.client.stats('/count/');
    expect(after).toEqual({ count: 2, revision: before.revision + 4 });
  });

  it('sees each put under the watched prefix once, in order', async () => {
    const seen: string[] = [];
    let finish = (): void => undefined;
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const stop = await etcd.client.watch('/watch/', (value) => {
      seen.push(value.toString());
      if (value.toString() === 'last') finish();
    });
    await etcd.client.put(encodePut('/watch/a', Buffer.from('first')));
    await etcd.client.put(encodePut('/other', Buffer.from('unseen')));
    await etcd.client.put(encodePut('/watch/b', Buffer.from('last')));
    await finished;
    stop();
    expect(seen).toEqual(['first', 'last']);
  });
});
