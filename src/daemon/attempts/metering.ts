/** Which Task a request of an agent to its provider is for, by what the agent has in work when the request comes. */
import type { Agent, Task } from '#api/types.ts';
import type { Meter } from '#providers/meter.ts';
import type { ProviderRouteOptions } from '#providers/route.ts';
import type { Store } from '#store/store.ts';
import { byUid } from '../by-uid.ts';

export function meteringOf(store: Store, meter: Pick<Meter, 'count'>): Required<Pick<ProviderRouteOptions, 'taskOf' | 'onUsage'>> {
  const taskByUid = byUid<Task>(store, 'Task');
  return {
    taskOf: ({ metadata, spec }: Agent) => {
      const { items } = store.list('Task', { namespace: metadata.namespace, fieldSelector: `status.owner=${metadata.name}` });
      return presentTask((items as readonly Task[]).filter((task) => task.spec.team === spec.team))?.metadata.uid;
    },
    onUsage: (provider, usage, taskUid) => meter.count(provider, usage, taskUid === undefined ? undefined : taskByUid(taskUid)),
  };
}

/**
 * Of several, one with a prompt: a model is asked for its sake; of those the one that began last. Where none runs, one that is claimed: its command
 * may ask before the host has heard, and written down, that it runs. Pure.
 */
export function presentTask(tasks: readonly Task[]): Task | undefined {
  const inPhase = (phase: string) => tasks.filter(({ status }) => status?.phase === phase);
  const running = inPhase('Running');
  const present = running.length > 0 ? running : inPhase('Claimed');
  const prompts = present.filter(({ spec }) => typeof spec.prompt === 'string');
  const [last] = (prompts.length > 0 ? prompts : present).sort((a, b) => beganMs(b) - beganMs(a));
  return last;
}

function beganMs({ status }: Task): number {
  return Date.parse(status?.startedAt ?? status?.lease?.renewTime ?? '') || 0;
}
