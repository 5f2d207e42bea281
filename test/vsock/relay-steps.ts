/** A message to a guest, by a relay that does no more than that. */
import type { VmDriver } from '#drivers/vm/driver.ts';
import { connectRelay } from '#guest/relay.ts';
import { SIGNAL, SPEC } from '../support/driver-steps.ts';

const MESSAGE = {
  ...{ message_id: '0199a000-0000-7000-8000-000000000001', seq: 1, namespace: 'default', team: 'team', from: 'lead', to: 'member' },
  ...({ message_type: 'text', content: 'during', timestamp: '2026-01-01T00:00:00.000Z' } as const),
} as const;

/** Resolves with the number of the message that the guest says it has stored. */
export async function storeMessage(driver: VmDriver): Promise<number> {
  let onStored = (_seq: number): void => {};
  const stored = new Promise<number>((resolve) => {
    onStored = resolve;
  });
  const refuse = async () => {
    throw new Error('nobody asks for this here');
  };
  const handlers = {
    ping: async () => ({ version: 'test', generation: 0, uptimeMs: 0 }),
    heartbeat: async () => ({}),
    teamReceive: async () => ({ messages: [], nextSeq: 1 }),
    teamAck: async ({ storedSeq }: { storedSeq: number }) => {
      if (storedSeq > 0) onStored(storedSeq);
      return { unknown: [] };
    },
  };
  const all = new Proxy(handlers, { get: (target, name) => Reflect.get(target, name) ?? refuse });
  const stream = await driver.connect(SPEC.id, 'relay', SIGNAL);
  const relay = await connectRelay(stream, { id: SPEC.id, incarnation: SPEC.incarnation, handlers: all as never });
  relay.hint(2, [MESSAGE]);
  const seq = await stored;
  relay.close('done');
  return seq;
}
