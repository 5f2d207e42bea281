/** What an agent costs that has nothing to do: memory of its own, and CPU time for its heartbeats. */

import { setTimeout as delay } from 'node:timers/promises';
import { createSessions } from '#guest/create-sessions.ts';
import { answering } from '../../support/relay-desk.ts';
import { cpuMs, untilIdle } from '../harness/idle.ts';
import { type BenchContext, BenchError, type Operation } from '../harness/operation.ts';
import { median } from '../harness/stats.ts';
import { atMost } from '../harness/verdict.ts';
import { IDLE, openBareSandboxes } from './bare-sandboxes.ts';
import { figuresOf, WHOLE_ROUND } from './figures.ts';
import { privateMiB, processesOf, type SandboxProcesses } from './private-memory.ts';
import { detectMachine, type Machine, newSpec, openSandboxes, type Sandboxes } from './sandboxes.ts';

const AGENTS = 3;
const WATCH_MS = 30_000;
/** Not shorter: a heartbeat comes every 10 s. */
const QUICK_WATCH_MS = 11_000;
/** Some seconds after the last work V8 collects garbage once more: that belongs to the start. */
const REST_MS = 15_000;
const QUICK_REST_MS = 1_000;
const MINUTE_MS = 60_000;
const ANSWER_MS = 20;
const ANSWER_TIMEOUT_MS = 60_000;

export const idle: Operation = {
  id: 'idle',
  about:
    'three agents with a session each, 15 s after their start and then for 30 s without anything to do, against three times `node -e "setInterval(() => {}, 1e9)"` in the same sandbox; private memory is Private_Clean and Private_Dirty of smaps_rollup, of the guest alone where nothing else is said; the CPU time is that of all its threads, heartbeats and looks for mail included; 60 ms a minute are a thousandth of one processor',
  rounds: { full: 4, quick: 1 },
  reference: WHOLE_ROUND,
  comparisons: [
    { label: 'idle agent, private memory', unit: 'MiB', ours: (of) => of('memory'), goal: atMost(10) },
    {
      label: '- against node alone',
      unit: 'MiB',
      ours: (of) => of('memory'),
      reference: { name: 'node', value: (of) => of('node memory') },
    },
    { label: '- more than node alone', unit: 'MiB', ours: (of) => of('memory') - of('node memory') },
    { label: '- with bubblewrap and launcher', unit: 'MiB', ours: (of) => of('all memory') },
    { label: 'idle agent, CPU time per minute', unit: 'ms', ours: (of) => of('cpu'), goal: atMost(60) },
  ],
  async open(context) {
    const machine = await detectMachine(context);
    const sandboxes = await openSandboxes(context, machine);
    const bare = await openIdleNodes(context, machine);
    const times = context.quick ? { restMs: QUICK_REST_MS, watchMs: QUICK_WATCH_MS } : { restMs: REST_MS, watchMs: WATCH_MS };
    return figuresOf(['memory', 'all memory', 'node memory', 'cpu'], async () => {
      const figures = await watchAgents(sandboxes, times);
      return { ...figures, 'node memory': median(bare.map(({ guest }) => privateMiB(guest.pid))) };
    });
  },
};

async function openIdleNodes(context: BenchContext, machine: Machine): Promise<SandboxProcesses[]> {
  const bare = await openBareSandboxes(context, machine, { slots: AGENTS, script: IDLE });
  const nodes: SandboxProcesses[] = [];
  for (let slot = 0; slot < AGENTS; slot += 1) {
    const { pid, end } = await bare.start(slot);
    context.own({ close: end });
    nodes.push(processesOf(pid));
  }
  return nodes;
}

interface Times {
  readonly restMs: number;
  readonly watchMs: number;
}

async function watchAgents({ driver, create, remove }: Sandboxes, { restMs, watchMs }: Times): Promise<Record<string, number>> {
  const specs = Array.from({ length: AGENTS }, () => newSpec());
  const sessions = createSessions({
    dial: (id, port, signal) => driver.connect(id, port, signal),
    desk: answering({
      teamReceive: async () => ({ messages: [], nextSeq: 1 }),
      teamAck: async () => ({ unknown: [] }),
    }),
    version: '0.0.0',
  });
  try {
    const agents: SandboxProcesses[] = [];
    for (const spec of specs) {
      (await (await create(spec)).answered()).close('the session follows');
      sessions.ensure(spec.id, spec.incarnation);
      agents.push(processesOf(await pidOf(driver, spec.id)));
    }
    await untilBeating(() => specs.every(({ id }) => sessions.get(id)?.state.heartbeat !== undefined));
    for (const { guest } of agents) await untilIdle(guest.pid);
    await delay(restMs);
    const before = agents.map(({ guest }) => cpuMs(guest.pid));
    await delay(watchMs);
    const spent = agents.map(({ guest }, index) => cpuMs(guest.pid) - (before[index] ?? 0));
    return {
      memory: median(agents.map(({ guest }) => privateMiB(guest.pid))),
      'all memory': median(agents.map(({ all }) => all.reduce((sum, { pid }) => sum + privateMiB(pid), 0))),
      cpu: (median(spent) / watchMs) * MINUTE_MS,
    };
  } finally {
    sessions.closeAll();
    await remove(specs.map(({ id }) => id));
  }
}

async function pidOf(driver: Sandboxes['driver'], id: string): Promise<number> {
  const { pid } = (await driver.get(id, new AbortController().signal)) ?? {};
  if (pid === undefined) throw new BenchError('an idle guest has ended');
  return pid;
}

async function untilBeating(areAll: () => boolean): Promise<void> {
  const deadline = performance.now() + ANSWER_TIMEOUT_MS;
  while (!areAll()) {
    if (performance.now() > deadline) throw new BenchError('no heartbeat came');
    await delay(ANSWER_MS);
  }
}
