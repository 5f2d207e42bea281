/** A tiny controller for the runtime's own tests: a Box object becomes a box in a pretend world that can refuse. */
import type { Condition, Draft, KindObject } from '#api/meta.ts';
import type { Client } from '#client/client.ts';
import { localClient } from '#client/local.ts';
import type { Clock } from '#lib/clock.ts';
import type { Store } from '#store/store.ts';
import { memoryStore } from '../../test/support/memory-store.ts';
import { setCondition } from './conditions.ts';
import type { Controller, Key } from './controller.ts';

export type Box = KindObject<{ size: number }, { size?: number; conditions?: Condition[] }>;

export const BOX_FINALIZER = 'agentiso.dev/box';

const KINDS = ['Box', 'Lid', 'Event', 'Lease'];

export interface World {
  /** uid → size */
  readonly boxes: Map<string, number>;
  /** What the next touches of the world throw; empty: all is well. */
  readonly refusals: unknown[];
  touches: number;
}

export interface BoxFixture {
  readonly store: Store;
  readonly client: Client;
  readonly world: World;
  readonly controller: Controller<Box>;
  get(name: string): Box | undefined;
}

export function boxFixture(options: { historyLimit?: number; clock?: Clock } = {}): BoxFixture {
  const store = memoryStore({ kinds: KINDS, ...options });
  const world: World = { boxes: new Map(), refusals: [], touches: 0 };
  return {
    store,
    client: localClient(store),
    world,
    controller: boxController(world),
    get: (name) => store.get(boxKey(name)) as Box | undefined,
  };
}

export function boxController(world: World): Controller<Box> {
  return {
    name: 'box',
    kind: 'Box',
    finalizer: BOX_FINALIZER,
    async reconcile(box, ctx) {
      const size = box.spec?.size ?? 0;
      touch(world);
      world.boxes.set(box.metadata.uid, size);
      box.status.size = size;
      setCondition(box, { type: 'Ready', status: 'True', reason: 'Made', message: '' }, ctx.now());
      return {};
    },
    async finalize(box) {
      touch(world);
      world.boxes.delete(box.metadata.uid);
      return 'done';
    },
  };
}

export function newBox(name: string, size = 1): Draft<Box> {
  return { apiVersion: 'test/v1', kind: 'Box', metadata: { name, namespace: 'default' }, spec: { size } };
}

export function boxKey(name: string): Key {
  return { kind: 'Box', namespace: 'default', name };
}

/** Resolves when `check` holds, looked at after every change in the store. */
export function eventually(store: Store, check: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const stops: (() => void)[] = [];
    const look = () => {
      if (!check()) return;
      for (const stop of stops) stop();
      resolve();
    };
    for (const kind of KINDS) stops.push(store.watch(kind, { resourceVersion: String(store.resourceVersion) }, () => queueMicrotask(look)));
    look();
  });
}

function touch(world: World): void {
  world.touches += 1;
  const refusal = world.refusals.shift();
  if (refusal !== undefined) throw refusal;
}
