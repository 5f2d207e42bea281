/** hello: both sides make sure they mean the same workspace. A different generation is the host's to judge, it knows both. */
import { GENERATION, type Handler } from '#protocol/messages.ts';
import { ProtocolError } from '#protocol/protocol-error.ts';
import type { Guest } from '../guest.ts';
import { GUEST_VERSION } from '../version.ts';

export function helloHandler({ id, incarnation }: Guest, onGreeted: () => void): Handler<'hello'> {
  return async (params) => {
    if (params.id !== id || params.incarnation !== incarnation) {
      throw new ProtocolError(
        'Conflict',
        `this guest is ${id} incarnation ${incarnation}, not ${params.id} incarnation ${params.incarnation}`,
      );
    }
    onGreeted();
    return { version: GUEST_VERSION, generation: GENERATION, id, incarnation };
  };
}
