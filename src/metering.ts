/** Which Task a request of an agent to its provider is for, by what the agent has in work when the request comes. */
import type { Agent, Task } from '#api/types.ts';
import type { Meter } from '#providers/meter.ts';
import type { ProviderRouteOptions } from '#providers/route.ts';
import type { Store } from '#store/store.ts';
import { byUid } from './by-uid.ts';

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

/** Of several, one with a prompt: a model is asked for its sake; of those the one that began last. Pure. */
export function presentTask(tasks: readonly Task[]): Task | undefined {
  const running = tasks.filter(({ status }) => status?.phase === 'Running');
  const prompts = running.filter(({ spec }) => typeof spec.prompt === 'string');
  const [last] = (prompts.length > 0 ? prompts : running).sort((a, b) => beganMs(b) - beganMs(a));
  return last;
}

function beganMs({ status }: Task): number {
  return Date.parse(status?.startedAt ?? '') || 0;
}
