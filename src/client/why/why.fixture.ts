/** Short ways to write a namespace, and to ask about something in it. */
import type { KindObject } from '#api/meta.ts';
import type { JsonObject } from '#lib/json.ts';
import type { EventObject } from '../events.ts';
import { type Explanation, explain } from './explain.ts';
import { explanationText } from './print.ts';
import { viewOf } from './view.ts';

export const NOW = new Date('2026-01-02T03:04:05Z');

/** So many seconds ago. */
export const ago = (seconds: number) => new Date(NOW.getTime() - seconds * 1_000).toISOString();

interface Parts {
  readonly metadata?: JsonObject;
  readonly spec?: JsonObject;
  readonly status?: JsonObject;
}

export function object(kind: string, name: string, { metadata = {}, spec, status }: Parts = {}): KindObject {
  const base = { name, namespace: 'default', uid: `uid-${name}`, resourceVersion: '1', generation: 1, creationTimestamp: ago(5) };
  return {
    apiVersion: 'agentiso.dev/v1alpha1',
    kind,
    metadata: { ...base, ...metadata },
    ...(spec ? { spec } : {}),
    ...(status ? { status } : {}),
  };
}

export const condition = (type: string, status: string, reason: string, message = '', seconds = 5) => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: ago(seconds),
});

const made = (team: string) => ({ ownerReferences: [{ kind: 'Team', name: team, uid: `uid-${team}`, controller: true }] });

export const team = (name: string, status: JsonObject = {}, spec: JsonObject = {}, metadata: JsonObject = {}) =>
  object('Team', name, { metadata, spec: { roles: [{ name: 'dev', count: 1 }], budget: { maxAgents: 10 }, ...spec }, status });

export const readyTeam = (name: string, spec: JsonObject = {}) =>
  team(name, { phase: 'Ready', conditions: [condition('Ready', 'True', 'AgentsReady')] }, spec);

export const agent = (name: string, status: JsonObject = {}, spec: JsonObject = {}, metadata: JsonObject = {}) =>
  object('Agent', `a-${name}`, {
    metadata: { ...made('a'), ...metadata },
    spec: {
      team: 'a',
      roleName: 'dev',
      desiredState: 'Running',
      backend: 'shell',
      restartPolicy: 'OnFailure',
      maxConcurrentTasks: 1,
      ...spec,
    },
    status,
  });

export const unready = (name: string, reason: string, message = '', spec: JsonObject = {}) =>
  agent(name, { phase: 'Failed', conditions: [condition('Ready', 'False', reason, message)] }, spec);

export const ready = (name: string) =>
  agent(name, { phase: 'Ready', startedAt: ago(60), conditions: [condition('Ready', 'True', 'Running')] });

export const task = (name: string, status: JsonObject = {}, spec: JsonObject = {}, metadata: JsonObject = {}) =>
  object('Task', `a-${name}`, { metadata, spec: { team: 'a', maxAttempts: 3, timeoutSeconds: 300, priority: 3, ...spec }, status });

export const waitingTask = (name: string, phase: string, reason: string, message = '', spec: JsonObject = {}) =>
  task(name, { phase, reason, conditions: [condition('Ready', 'False', reason, message)] }, spec);

export const running = (name: string, owner: string, more: JsonObject = {}) =>
  task(name, { phase: 'Running', owner: `a-${owner}`, attempt: 1, startedAt: ago(12), ...more });

export const ofTeam = made;

export function ask(asked: KindObject, others: readonly KindObject[] = [], warnings: readonly EventObject[] = []): Explanation {
  return explain(asked, viewOf({ objects: [asked, ...others], warnings }), NOW);
}

/** As a person reads it. */
export function why(asked: KindObject, others: readonly KindObject[] = [], warnings: readonly EventObject[] = []): string[] {
  return explanationText(ask(asked, others, warnings))
    .trimEnd()
    .split('\n');
}

export const warning = (kind: string, name: string, reason: string, message: string) =>
  ({
    kind: 'Event',
    apiVersion: 'v1',
    metadata: { name: 'e', namespace: 'default', creationTimestamp: ago(3) },
    type: 'Warning',
    reason,
    message,
    involvedObject: { kind, name },
  }) as EventObject;
