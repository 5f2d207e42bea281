/** One object read over and over on one connection: how long until its last byte is there. */
import { type BenchContext, BenchError, type Contestant, type Operation } from '../harness/operation.ts';
import { medianOfEach } from '../harness/timing.ts';
import { atMost } from '../harness/verdict.ts';
import { makeTask } from '../objects.ts';
import { openEtcdTasks, PREFIX } from '../store/etcd-tasks.ts';
import { fillMerges, startDaemon } from './daemon.ts';
import { connectFloor } from './floor.ts';
import { checked, type HttpClient } from './http-client.ts';
import { MERGES, makeMerge } from './merge.ts';
import { formatRequest } from './response.ts';

const OBJECTS = 1_000;
const CALLS = 500;
const ETCD_CALLS = 150;

export const get: Operation = {
  id: 'get',
  about:
    'a Merge of 1.4 KB over the unix socket; bare node:http sends the same bytes from a prepared Buffer with as many headers; etcd holds the same bytes; client, API, bare server and etcd are processes of their own; all after ten rounds that are not counted',
  rounds: { warmUp: 10, full: 20, quick: 3 },
  reference: 'bare',
  comparisons: [
    {
      label: 'GET one object, p50',
      unit: 'ms',
      ours: (of) => of('ours'),
      reference: { name: 'bare node:http', value: (of) => of('bare') },
      goal: atMost(1.3),
    },
    {
      label: '- against etcd get',
      unit: 'ms',
      ours: (of) => of('ours'),
      reference: { name: 'etcd', value: (of) => of('etcd') },
      goal: atMost(0.1),
    },
    {
      label: '- bare node:http against etcd get',
      unit: 'ms',
      ours: (of) => of('bare'),
      reference: { name: 'etcd', value: (of) => of('etcd') },
    },
  ],
  async open(context) {
    const daemon = await startDaemon(context);
    const texts = await fillMerges(daemon, context.quick ? OBJECTS / 10 : OBJECTS);
    const expected = Buffer.from(texts[0] as string);
    const path = `${MERGES}/${makeMerge(0).metadata.name}`;
    return [
      httpContestant('ours', await daemon.connect(), { path, expected }),
      httpContestant('bare', await connectFloor(context, texts), { path: '/one', expected }),
      await etcdContestant(context, texts),
    ];
  },
};

interface Asked {
  readonly path: string;
  readonly expected: Buffer;
}

function httpContestant(name: string, client: HttpClient, { path, expected }: Asked): Contestant {
  const requests = Array.from({ length: CALLS }, () => Buffer.from(formatRequest({ method: 'GET', path })));
  return {
    name,
    async run() {
      const p50 = await medianOfEach(requests, async (request) => {
        if (checked(await client.exchange(request)).length !== expected.length) throw new BenchError(`${name} sent something else`);
      });
      const last = await client.exchange(requests[0] as Buffer);
      if (!last.body().equals(expected)) throw new BenchError(`${name} sent other bytes`);
      return p50;
    },
  };
}

async function etcdContestant(context: BenchContext, texts: readonly string[]): Promise<Contestant> {
  const values = texts.map((text) => Buffer.from(text));
  const etcd = await openEtcdTasks(context, texts.length, (index) => values[index] as Buffer);
  const key = `${PREFIX}${makeTask(0).metadata.name}`;
  const calls = Array.from({ length: ETCD_CALLS }, () => key);
  return {
    name: 'etcd',
    run: () =>
      medianOfEach(calls, async () => {
        const value = await etcd.client.get(key);
        if (value?.length !== values[0]?.length) throw new BenchError('etcd sent something else');
      }),
  };
}
