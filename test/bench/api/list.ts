/** All objects in one answer: how long until its last byte is there. */
import { BenchError, type Contestant, type Operation } from '../harness/operation.ts';
import { medianOfEach } from '../harness/timing.ts';
import { atMost } from '../harness/verdict.ts';
import { fillMerges, listMerges, startDaemon } from './daemon.ts';
import { connectFloor } from './floor.ts';
import { checked, type HttpClient } from './http-client.ts';
import { MERGES } from './merge.ts';
import { formatRequest } from './response.ts';

const OBJECTS = 10_000;
const QUICK_OBJECTS = 1_000;
const CALLS = 3;

export const list: Operation = {
  id: 'list',
  about:
    'the joined-strings floor is a bare node:http server on a unix socket that for every request joins 10,000 prepared JSON strings of the same objects with commas, puts the head and tail of a list around them, counts the bytes and sends them (14 MB)',
  rounds: { full: 20, quick: 3 },
  reference: 'bare',
  comparisons: [
    {
      label: 'LIST 10,000 objects',
      unit: 'ms',
      ours: (of) => of('ours'),
      reference: { name: 'joined strings', value: (of) => of('bare') },
      goal: atMost(1.5),
    },
  ],
  async open(context) {
    const count = context.quick ? QUICK_OBJECTS : OBJECTS;
    const daemon = await startDaemon(context);
    await fillMerges(daemon, count);
    const client = await daemon.connect();
    const { items } = await listMerges(client, count);
    const floor = await connectFloor(context, items);
    await listMerges(floor, count);
    return [contestant('ours', client, count), contestant('bare', floor, count)];
  },
};

async function timeLists(name: string, client: HttpClient, request: Buffer, length: number): Promise<number> {
  return medianOfEach(Array.from({ length: CALLS }), async () => {
    if (checked(await client.exchange(request)).length !== length) throw new BenchError(`${name} sent a list of another length`);
  });
}

function contestant(name: string, client: HttpClient, count: number): Contestant {
  const request = Buffer.from(formatRequest({ method: 'GET', path: MERGES }));
  return {
    name,
    async run() {
      // What is measured must be the whole list: counted once per round, on nobody's time.
      const { length } = await listMerges(client, count);
      return timeLists(name, client, request, length);
    },
  };
}
