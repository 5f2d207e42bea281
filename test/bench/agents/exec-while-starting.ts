/** How long a command of one agent takes while twenty others start: it must not have to wait for them. */
import type { GuestClient } from '#guest/client.ts';
import { BenchError, type Operation } from '../harness/operation.ts';
import { median } from '../harness/stats.ts';
import { atMost } from '../harness/verdict.ts';
import { figuresOf, WHOLE_ROUND } from './figures.ts';
import { detectMachine, newSpec, openSandboxes, type Sandboxes } from './sandboxes.ts';

const OTHERS = 20;
const QUICK_OTHERS = 4;
const ALONE = 20;
const TIMEOUT_MS = 60_000;

export const execWhileStarting: Operation = {
  id: 'exec-while-starting',
  about:
    'commands that do nothing, one after the other, in a sandbox that runs already, from the call until its answer: alone, and from the moment that 20 others are asked for until all of them have answered',
  rounds: { full: 5, quick: 1 },
  reference: WHOLE_ROUND,
  comparisons: [
    { label: 'exec in an agent, nothing else starts, median', unit: 'ms', ours: (of) => of('alone') },
    { label: 'exec while 20 agents start, slowest', unit: 'ms', ours: (of) => of('slowest'), goal: atMost(1_000) },
    { label: '- median', unit: 'ms', ours: (of) => of('meanwhile') },
  ],
  async open(context) {
    const sandboxes = await openSandboxes(context, await detectMachine(context));
    const client = await (await sandboxes.create(newSpec())).answered();
    context.own({ close: async () => client.close('measured') });
    const others = context.quick ? QUICK_OTHERS : OTHERS;
    return figuresOf(['alone', 'slowest', 'meanwhile'], async () => {
      const alone: number[] = [];
      for (let index = 0; index < ALONE; index += 1) alone.push(await execMs(client));
      const meanwhile = await whileStarting(sandboxes, others, () => execMs(client));
      return { alone: median(alone), slowest: Math.max(...meanwhile), meanwhile: median(meanwhile) };
    });
  },
};

async function execMs(client: GuestClient): Promise<number> {
  const began = performance.now();
  const { exitCode } = await client.call('exec', { argv: ['true'], timeoutMs: TIMEOUT_MS });
  if (exitCode !== 0) throw new BenchError('a command failed');
  return performance.now() - began;
}

/** Again and again until all have answered. */
async function whileStarting({ create, remove }: Sandboxes, count: number, work: () => Promise<number>): Promise<number[]> {
  const specs = Array.from({ length: count }, () => newSpec());
  let isOver = false;
  const starting = Promise.all(specs.map(async (spec) => (await create(spec)).answered())).finally(() => {
    isOver = true;
  });
  const took: number[] = [];
  while (!isOver) took.push(await work());
  for (const started of await starting) started.close('measured');
  await remove(specs.map(({ id }) => id));
  return took;
}
