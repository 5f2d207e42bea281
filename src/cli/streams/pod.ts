/** Which pod a person means. Agents are pods of the same name; on a cluster that has no agents, pods are just pods. */
import { type Query, type ResourceName, resourcePath } from '#client/resource-api.ts';
import { UsageError } from '../usage-error.ts';

export const PODS: ResourceName = { group: '', version: 'v1', plural: 'pods', isNamespaced: true };

const POD_WORDS = ['pod', 'pods', 'po'];
const AGENT_WORDS = ['agent', 'agents', 'ag', 'agents.agentiso.dev', 'agent.agentiso.dev'];
const TASK_WORDS = ['task', 'tasks', 'tk', 'tasks.agentiso.dev', 'task.agentiso.dev'];

export interface Meant {
  readonly kind: 'pod' | 'task';
  readonly name: string;
}

/** `agent/NAME`, `pod/NAME`, `NAME`; `task/NAME` where that makes sense. */
export function meantBy(word: string, { withTasks = false } = {}): Meant {
  const [type = '', name, ...rest] = word.split('/');
  if (name === undefined && type !== '') return { kind: 'pod', name: type };
  const kind = TASK_WORDS.includes(type) && withTasks ? 'task' : 'pod';
  const isKnown = kind === 'task' || POD_WORDS.includes(type) || AGENT_WORDS.includes(type);
  if (!isKnown || !name || rest.length > 0) {
    const words = `agent/NAME, pod/NAME${withTasks ? ', task/NAME' : ''} or the NAME of an agent`;
    throw new UsageError(`${JSON.stringify(word)} names no agent; give ${words}`);
  }
  return { kind, name };
}

export function isPodType(word: string): boolean {
  return POD_WORDS.includes(word) || AGENT_WORDS.includes(word);
}

export interface PodPlace {
  readonly namespace: string;
  readonly name: string;
}

/** A path of a pod's subresource; what is there several times is repeated in the query. */
export function podPath(
  { namespace, name }: PodPlace,
  subresource: string,
  query: Query,
  repeated: Readonly<Record<string, readonly string[]>> = {},
): string {
  const path = resourcePath(PODS, { namespace, name, subresource, query });
  const more = Object.entries(repeated).flatMap(([key, values]) => values.map((value) => `${key}=${encodeURIComponent(value)}`));
  return more.length === 0 ? path : `${path}${path.includes('?') ? '&' : '?'}${more.join('&')}`;
}
