/** What a task costs over the command it runs: until the command begins, and when there are many. */
import type { Operation } from '../harness/operation.ts';
import { median } from '../harness/stats.ts';
import { perSecond } from '../harness/timing.ts';
import { atLeast, atMost } from '../harness/verdict.ts';
import { SAY_TIME, spawnAllMs, spawnToStartMs } from './spawns.ts';
import { openTeam } from './team.ts';

const STARTS = 40;
const QUICK_STARTS = 5;
const AGENTS = 20;
const QUICK_AGENTS = 4;
const TASKS = 1_000;
const QUICK_TASKS = 40;

export const start: Operation = {
  id: 'start',
  about:
    'a daemon with one agent of the process driver; one task at a time, from the moment its claim is on disk until its command, `date +%s%N` in a shell, says what time it is; the reference is the same shell started by node',
  rounds: { full: 10, quick: 2 },
  reference: 'spawn',
  comparisons: [
    { label: 'assignment -> command started, over a bare spawn', unit: 'ms', ours: (of) => of('task') - of('spawn'), goal: atMost(10) },
    { label: '- altogether', unit: 'ms', ours: (of) => of('task'), reference: { name: 'spawn', value: (of) => of('spawn') } },
  ],
  async open(context) {
    const count = context.quick ? QUICK_STARTS : STARTS;
    const team = await openTeam(context, 1);
    return [
      { name: 'task', run: async () => median((await team.do({ count, command: SAY_TIME, isOneByOne: true })).startsMs) },
      {
        name: 'spawn',
        async run() {
          const took: number[] = [];
          for (let index = 0; index < count; index += 1) took.push(await spawnToStartMs());
          return median(took);
        },
      },
    ];
  },
};

export const many: Operation = {
  id: 'many',
  about:
    '1,000 tasks with the command `true`, made at once, on 20 agents of the process driver; the reference is the same shell started 1,000 times by node, 20 at a time',
  rounds: { full: 5, quick: 1 },
  reference: 'spawn',
  comparisons: [
    {
      label: '1,000 tasks on 20 agents',
      unit: 'op/s',
      ours: (of) => of('tasks'),
      reference: { name: 'spawns', value: (of) => of('spawn') },
      goal: atLeast(0.5),
    },
  ],
  async open(context) {
    const [agents, count] = context.quick ? [QUICK_AGENTS, QUICK_TASKS] : [AGENTS, TASKS];
    const team = await openTeam(context, agents);
    return [
      { name: 'tasks', run: async () => perSecond(count, (await team.do({ count, command: 'true', isOneByOne: false })).elapsedMs) },
      { name: 'spawn', run: async () => perSecond(count, await spawnAllMs(count, { atOnce: agents, command: 'true' })) },
    ];
  },
};
