/** What of a Task decides whether a person's wish makes sense. Pure. */
import type { ApiObject } from '#client/resource-api.ts';
import { isObject, type JsonObject } from '#lib/json.ts';

export interface TaskState {
  readonly phase: string;
  readonly reason: string;
  readonly retry: number;
  readonly isCancelled: boolean;
  readonly assignTo: string | undefined;
}

export function taskState(task: ApiObject): TaskState {
  const [spec, status] = [section(task, 'spec'), section(task, 'status')];
  return {
    phase: textOf(status['phase']) ?? 'Pending',
    reason: textOf(status['reason']) ?? '',
    retry: Math.max(numberOf(spec['retry']), numberOf(status['retries'])),
    isCancelled: spec['cancelled'] === true,
    assignTo: textOf(spec['assignTo']),
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

function section(task: ApiObject, name: string): JsonObject {
  const value = task[name];
  return isObject(value) ? value : {};
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
