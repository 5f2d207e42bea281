/** Resident memory for many objects, over that of an empty node process. */

import type { MemoryArgs } from '../children/memory.ts';
import { measureInChild } from '../harness/child.ts';
import type { Operation } from '../harness/operation.ts';
import { atMost } from '../harness/verdict.ts';
import { prepare } from './prepared.ts';

const OBJECTS = 100_000;
const QUICK_OBJECTS = 5_000;
const CONTESTANTS: readonly MemoryArgs['contestant'][] = ['ours', 'map', 'empty'];

export const memory: Operation = {
  id: 'memory',
  rounds: { full: 5, quick: 2 },
  reference: 'map',
  comparisons: [
    {
      label: 'resident memory, 100,000 objects',
      unit: 'MiB',
      ours: (of) => of('ours') - of('empty'),
      reference: { name: 'bare Map', value: (of) => of('map') - of('empty') },
      goal: atMost(1.3),
    },
  ],
  async open(context) {
    const { dir, indexFile, count } = await prepare(context, context.quick ? QUICK_OBJECTS : OBJECTS, { copies: false });
    const { subjectModule } = context;
    return CONTESTANTS.map((contestant) => ({
      name: contestant,
      run: () => measureInChild('memory', { contestant, dir, indexFile, count, subjectModule }),
    }));
  },
};
