/** What the tests of controllers need: a context that remembers its events, and a client that can be made to fail. */
import type { Client } from '#client/client.ts';
import { silentLogger } from '#lib/log.ts';
import type { EventRecorder, ReconcileContext } from './controller.ts';

export interface RecordedEvent {
  readonly type: 'Normal' | 'Warning';
  readonly object: string;
  readonly reason: string;
  readonly message: string;
}

export interface TestContext extends ReconcileContext {
  readonly recorded: readonly RecordedEvent[];
}

export function testContext(overrides: Partial<ReconcileContext> = {}): TestContext {
  const recorded: RecordedEvent[] = [];
  const events: EventRecorder = {
    normal: (object, reason, message) => void recorded.push({ type: 'Normal', object: object.metadata.name, reason, message }),
    warning: (object, reason, message) => void recorded.push({ type: 'Warning', object: object.metadata.name, reason, message }),
  };
  const signal = new AbortController().signal;
  return { log: silentLogger, now: () => new Date(), signal, reconcileId: 'test', events, ...overrides, recorded };
}

export type Verb = keyof Client;

/** `before` sees every call before the client does: a throw or a rejection is that call's failure, a promise delays it. */
export function interceptClient(client: Client, before: (verb: Verb, argument: unknown) => Promise<void> | void): Client {
  const after = async <R>(verb: Verb, argument: unknown, call: () => Promise<R>): Promise<R> => {
    await before(verb, argument);
    return call();
  };
  return {
    get: (key) => after('get', key, () => client.get(key)),
    list: (kind, options) => after('list', kind, () => client.list(kind, options)),
    watch: async function* (kind, options) {
      await before('watch', kind);
      yield* client.watch(kind, options);
    },
    create: (object) => after('create', object, () => client.create(object)),
    update: (object) => after('update', object, () => client.update(object)),
    updateStatus: (object) => after('updateStatus', object, () => client.updateStatus(object)),
    apply: (config, options) => after('apply', config, () => client.apply(config, options)),
    delete: (key, options) => after('delete', key, () => client.delete(key, options)),
  };
}
