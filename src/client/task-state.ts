/** What of a Task decides whether a person's wish makes sense. Pure. */
import { isObject, type JsonObject } from '#lib/json.ts';

export interface TaskState {
  readonly phase: string;
  readonly reason: string;
  readonly retry: number;
  readonly isCancelled: boolean;
  readonly assignTo: string | undefined;
}

/** A Task as any of the clients gives it. */
export function taskState(task: object): TaskState {
  const { spec, status } = task as { readonly spec?: unknown; readonly status?: unknown };
  const [wanted, seen] = [section(spec), section(status)];
  return {
    phase: textOf(seen['phase']) ?? 'Pending',
    reason: textOf(seen['reason']) ?? '',
    retry: Math.max(numberOf(wanted['retry']), numberOf(seen['retries'])),
    isCancelled: wanted['cancelled'] === true,
    assignTo: textOf(wanted['assignTo']),
  };
}

/** Why it cannot be tried again; undefined when it can. */
export function retryProblem({ phase, reason }: TaskState): string | undefined {
  if (phase === 'Failed' || (phase === 'Blocked' && reason === 'PlanTimeout')) return undefined;
  if (phase === 'Succeeded') return 'it has Succeeded; to run it anew, delete and apply it';
  if (phase === 'Blocked' && reason === 'DependencyFailed') return 'it waits for a task that has Failed; retry that one';
  return `it is ${phase}; only a task that has Failed can be tried again`;
}

export function endedProblem({ phase }: TaskState): string | undefined {
  return phase === 'Succeeded' || phase === 'Failed' ? `it has already ended: ${phase}` : undefined;
}

function section(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
