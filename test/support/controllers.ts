/** What the tests of controllers share: the real kinds and admission in a memory store, a clock that stands still, and short ways to write objects. */
import { admission, kinds } from '#api/kinds.ts';
import { API_VERSION, type Condition, type Draft, type KindObject } from '#api/meta.ts';
import type { Agent, Task, Team } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import { localClient } from '#client/local.ts';
import type { JsonObject } from '#lib/json.ts';
import type { Controller, ReconcileContext, Result } from '#runtime/controller.ts';
import { reconcileKey } from '#runtime/reconcile.ts';
import { type TestContext, testContext } from '#runtime/testing.ts';
import type { Store } from '#store/store.ts';
import { memoryStore } from './memory-store.ts';

export interface Bench {
  readonly store: Store;
  readonly client: Client;
  readonly ctx: TestContext;
  /** Moves the clock that controllers see. */
  pass(ms: number): void;
  get<T extends KindObject>(kind: T['kind'], name: string): T | undefined;
  /** One pass over one object. */
  reconcile(controller: unknown, kind: string, name: string, options?: { client?: Client; ctx?: ReconcileContext }): Promise<Result>;
}

export const START = new Date('2026-01-02T03:04:05Z');

export function bench(): Bench {
  let now = START.getTime();
  const clock = { now: () => new Date(now) };
  const store = memoryStore({ kinds, admission, clock });
  const client = localClient(store);
  const ctx = testContext({ now: clock.now });
  return {
    store,
    client,
    ctx,
    pass: (ms) => {
      now += ms;
    },
    get: <T extends KindObject>(kind: T['kind'], name: string) => store.get({ kind, namespace: 'default', name }) as T | undefined,
    reconcile: (controller, kind, name, options = {}) =>
      reconcileKey(controller as Controller, { kind, namespace: 'default', name }, options.client ?? client, options.ctx ?? ctx),
  };
}

export function newTeam(name: string, spec: JsonObject): Draft<Team> {
  return draft('Team', name, { roles: [{ name: 'worker' }], ...spec });
}

export function newAgent(name: string, spec: JsonObject = {}): Draft<Agent> {
  return draft('Agent', name, { team: 'a', ...spec });
}

export function newTask(name: string, spec: JsonObject = {}): Draft<Task> {
  return draft('Task', name, { team: 'a', ...('prompt' in spec ? {} : { command: 'true' }), ...spec });
}

/** Admission fills in what is left out. */
function draft<T extends KindObject>(kind: string, name: string, spec: JsonObject): Draft<T> {
  return { apiVersion: API_VERSION, kind, metadata: { name, namespace: 'default' }, spec } as unknown as Draft<T>;
}

export function conditionOf(object: KindObject | undefined, type: string): string | undefined {
  const conditions = (object?.status as { conditions?: Condition[] } | undefined)?.conditions ?? [];
  const found = conditions.find((condition) => condition.type === type);
  return found && `${found.status} ${found.reason}: ${found.message}`;
}
