/** A way that messages take, with its processes: opened, used for so many messages, closed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type BenchContext, BenchError } from '../harness/operation.ts';
import { startRedis } from '../peers/redis.ts';
import type { Order, Report, Role, Way } from './end-process.ts';

const ANSWER_MS = 120_000;

/** All ends that run, so that one listener is enough for the end of this process. */
const running = new Set<ChildProcess>();
process.prependListener('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export interface OpenWay {
  /** Milliseconds from the wish to send until a reader has it, for each message; and from the first wish until the last has it. */
  pass(order: Order): Promise<{ readonly agesMs: readonly number[]; readonly elapsedMs: number }>;
}

/** Throws MissingToolError when there is no Redis. */
export async function openWay(way: Way, context: BenchContext): Promise<OpenWay> {
  const dir = join(context.dir, way);
  mkdirSync(dir, { recursive: true });
  const place = way === 'ours' ? dir : join(dir, 'socket');
  if (way === 'redis') context.own(await startRedis(dir, place));
  // Our guests listen and the host connects; elsewhere it is the other way round.
  const order: readonly Role[] = way === 'ours' ? ['receiver', 'sender', 'middle'] : ['middle', 'receiver', 'sender'];
  const ends = new Map<Role, End>();
  for (const role of order) if (way !== 'redis' || role !== 'middle') ends.set(role, await startEnd(way, role, { place, context }));
  return {
    async pass(wanted) {
      const [sender, receiver] = [ends.get('sender'), ends.get('receiver')];
      if (!sender || !receiver) throw new BenchError(`${way} has no ends`);
      const startedMs = performance.now();
      const [{ agesMs = [] }] = await Promise.all([receiver.ask(wanted), sender.ask(wanted)]);
      const elapsedMs = performance.now() - startedMs;
      if (agesMs.length !== wanted.count) throw new BenchError(`${way}: ${agesMs.length} of ${wanted.count} messages arrived`);
      return { agesMs, elapsedMs };
    },
  };
}

interface End {
  ask(order: Order): Promise<Report>;
}

async function startEnd(way: Way, role: Role, { place, context }: { place: string; context: BenchContext }): Promise<End> {
  const program = process.env['AGENTISO_BENCH_MESSAGES'];
  if (program === undefined) throw new Error('start the benchmarks with npm run bench');
  const child = spawn(process.execPath, [program, way, role, place], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  running.add(child);
  context.own({
    async close() {
      running.delete(child);
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  });
  await nextReport(child, `${way} ${role}`);
  return {
    ask(order) {
      const report = nextReport(child, `${way} ${role}`);
      child.send(order);
      return report;
    },
  };
}

async function nextReport(child: ChildProcess, name: string): Promise<Report> {
  const ended = new AbortController();
  const timer = setTimeout(() => ended.abort(new BenchError(`${name} does not answer`)), ANSWER_MS);
  const onExit = () => ended.abort(new BenchError(`${name} ended`));
  child.once('exit', onExit);
  try {
    const [report] = (await once(child, 'message', { signal: ended.signal })) as [Report];
    if (report.problem !== undefined) throw new BenchError(`${name}: ${report.problem}`);
    return report;
  } catch (error) {
    throw ended.signal.aborted ? ended.signal.reason : error;
  } finally {
    clearTimeout(timer);
    child.off('exit', onExit);
  }
}
