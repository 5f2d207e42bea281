/** What happens on the board as plain lines: for pipes, logs and every terminal. */
import type { Agent, Merge, Task } from '#api/types.ts';
import { type Followed, isFinished, isStalled, readyOf, waitingFor } from './follow-board.ts';

export interface Told {
  /** For standard error; empty when nothing is worth a line. */
  readonly line: string;
  /** What the task itself has printed. */
  readonly result: { readonly stdout: string; readonly stderr: string } | undefined;
}

const NOTHING: Told = { line: '', result: undefined };

/** The difference between two looks at one object. `isOld`: it had ended before anything was started. */
export function tellChange(before: Followed | undefined, object: Followed, isOld = false): Told {
  const text = describe(object);
  if (text === '' || text === describe(before)) return NOTHING;
  const id = `${object.kind.toLowerCase()}/${object.metadata.name}`;
  const isEnd = object.kind === 'Task' && isFinished(object);
  if (isEnd && before?.kind === 'Task' && isFinished(before)) return NOTHING;
  return { line: isOld && isEnd ? `${id} already ${text}\n` : `${id} ${text}\n`, result: isEnd ? resultOf(object) : undefined };
}

/** In words; empty for what says nothing yet, and for teams that need nobody. */
export function describe(object: Followed | undefined): string {
  if (object === undefined) return '';
  if (object.kind === 'Team') return isStalled(object) ? (readyOf(object)?.message ?? '') : '';
  const { phase } = object.status ?? {};
  if (phase === undefined) return '';
  if (object.kind === 'Task') return describeTask(object);
  if (object.kind === 'Merge') return describeMerge(object);
  return describeAgent(object);
}

/** What every agent goes through on its way. */
const ORDINARY = ['', 'waiting for the guest agent', 'not connected yet'];

function describeAgent(agent: Agent): string {
  const { phase = '' } = agent.status ?? {};
  // Who works on what is said of the tasks.
  if (phase === 'Working') return 'Ready';
  const ready = readyOf(agent);
  return ready?.status === 'False' && !ORDINARY.includes(ready.message) ? `${phase}: ${ready.message}` : phase;
}

function describeTask(task: Task): string {
  const { phase = '', reason, owner, result } = task.status ?? {};
  if (phase === 'Claimed' && reason === undefined) return '';
  if (phase === 'Running') return `Running on ${owner}`;
  if (phase === 'Succeeded')
    return `${phase}${result?.elapsedSeconds === undefined ? '' : ` in ${result.elapsedSeconds} s`}${isVerified(task) ? ', verified' : ''}`;
  return reason === undefined ? phase : `${phase}: ${waitingFor(task)}`;
}

function describeMerge(merge: Merge): string {
  const { phase = '', totalCommitsApplied = 0, targetAfter, waitsFor } = merge.status ?? {};
  if (phase === 'Merged') return `${phase}: ${totalCommitsApplied} commits${targetAfter ? `, now at ${targetAfter.slice(0, 12)}` : ''}`;
  if (phase === 'Failed' || phase === 'Conflicted') return `${phase}: ${readyOf(merge)?.message ?? ''}`;
  return waitsFor === undefined ? '' : `${phase}: ${waitsFor}`;
}

function isVerified({ status }: Task): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === 'Verified' && is === 'True') === true;
}

function resultOf({ status }: Task): Told['result'] {
  const { stdout = '', stderr = '' } = status?.result ?? {};
  return { stdout: endLine(stdout), stderr: endLine(stderr) };
}

function endLine(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}
