/** From an existing directory to all objects in memory, each time in a fresh process with a warm page cache. */
import { measureInChild } from '../harness/child.ts';
import type { Operation } from '../harness/operation.ts';
import { atMost } from '../harness/verdict.ts';
import { prepare } from './prepared.ts';

const OBJECTS = 10_000;
const QUICK_OBJECTS = 1_000;

export const coldStart: Operation = {
  id: 'cold-start',
  rounds: { full: 5, quick: 2 },
  reference: 'floor',
  comparisons: [
    {
      label: 'cold start, 10,000 objects',
      unit: 'ms',
      ours: (of) => of('ours'),
      reference: { name: 'side index', value: (of) => of('floor') },
      goal: atMost(1.5),
    },
  ],
  async open(context) {
    const { dir, copyDir, indexFile, count } = await prepare(context, context.quick ? QUICK_OBJECTS : OBJECTS, { copies: true });
    const { subjectModule } = context;
    return [
      { name: 'ours', run: () => measureInChild('cold-start', { contestant: 'ours', dir, indexFile, count, subjectModule }) },
      { name: 'floor', run: () => measureInChild('cold-start', { contestant: 'floor', dir: copyDir, indexFile, count }) },
    ];
  },
};
