/** Many agents at once: the CPU time and the wall time until the last one has answered. */
import { BenchError, type Operation } from '../harness/operation.ts';
import { sideBySide } from '../harness/timing.ts';
import { atMost } from '../harness/verdict.ts';
import { type BareSandboxes, openBareSandboxes } from './bare-sandboxes.ts';
import { type CpuGroup, enterCpuGroup } from './cpu-group.ts';
import { figuresOf, WHOLE_ROUND } from './figures.ts';
import { detectMachine, newSpec, openSandboxes, type Sandboxes } from './sandboxes.ts';

const AGENTS = 50;
const QUICK_AGENTS = 6;
/** As many as the daemon looks at side by side; none of them waits for a guest. */
const STARTERS = 10;

export const startMany: Operation = {
  id: 'start-many',
  about:
    '50 agents, asked for ten at a time, until each has answered hello; the CPU time is that of the process that starts them and of all processes they consist of; the reference is 50 times bubblewrap with the same arguments around one line of JavaScript that writes to a unix socket and stays',
  rounds: { full: 10, quick: 2 },
  reference: WHOLE_ROUND,
  comparisons: [
    {
      label: '50 agents at once, CPU time',
      unit: 'ms',
      ours: (of) => of('ours, cpu'),
      reference: { name: 'bwrap node hello', value: (of) => of('bare, cpu') },
      goal: atMost(1.2),
    },
    {
      label: '- wall time',
      unit: 'ms',
      ours: (of) => of('ours, wall'),
      reference: { name: 'bwrap node hello', value: (of) => of('bare, wall') },
    },
  ],
  async open(context) {
    const group = context.own(enterCpuGroup());
    const machine = await detectMachine(context);
    const agents = context.quick ? QUICK_AGENTS : AGENTS;
    const sandboxes = await openSandboxes(context, machine);
    const bare = await openBareSandboxes(context, machine, { slots: agents });
    return [
      ...figuresOf(['ours, cpu', 'ours, wall'], () => startOurs(group, sandboxes, agents)),
      ...figuresOf(['bare, cpu', 'bare, wall'], () => startBare(group, bare, agents)),
    ];
  },
};

async function startOurs(group: CpuGroup, { create, remove }: Sandboxes, agents: number): Promise<Record<string, number>> {
  const ids: string[] = [];
  const { started, cpu, wall } = await startAll(group, agents, async () => {
    const spec = newSpec();
    ids.push(spec.id);
    return create(spec);
  });
  for (const client of started) client.close('measured');
  await remove(ids);
  return { 'ours, cpu': cpu, 'ours, wall': wall };
}

async function startBare(group: CpuGroup, bare: BareSandboxes, agents: number): Promise<Record<string, number>> {
  const { started, cpu, wall } = await startAll(group, agents, async (index) => {
    const starting = bare.start(index);
    return { answered: () => starting };
  });
  await Promise.all(started.map((sandbox) => sandbox.end()));
  return { 'bare, cpu': cpu, 'bare, wall': wall };
}

/** Starters begin the next one as soon as one has begun, like a controller's workers: nobody waits for an answer before the end. */
async function startAll<T>(group: CpuGroup, agents: number, begin: (index: number) => Promise<{ answered(): Promise<T> }>) {
  const [cpuBefore, before] = [group.cpuMs(), performance.now()];
  const answers: Promise<T>[] = [];
  await sideBySide(STARTERS, async (starter) => {
    for (let index = starter; index < agents; index += STARTERS) answers.push((await begin(index)).answered());
  });
  const started = await Promise.all(answers);
  if (started.length !== agents) throw new BenchError(`${started.length} of ${agents} started`);
  return { started, cpu: group.cpuMs() - cpuBefore, wall: performance.now() - before };
}
