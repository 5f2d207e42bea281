/** hello: both sides make sure they mean the same workspace. A different generation is the host's to judge, it knows both. */
import { GENERATION, type HelloParams, type HelloResult } from '#protocol/common.ts';
import { ProtocolError } from '#protocol/protocol-error.ts';
import type { Guest } from '../guest.ts';
import { GUEST_VERSION } from '../version.ts';

export function greet({ id, incarnation }: Pick<Guest, 'id' | 'incarnation'>, params: HelloParams): HelloResult {
  if (params.id !== id || params.incarnation !== incarnation) {
    throw new ProtocolError(
      'Conflict',
      `this guest is ${id} incarnation ${incarnation}, not ${params.id} incarnation ${params.incarnation}`,
    );
  }
  return { version: GUEST_VERSION, generation: GENERATION, id, incarnation };
}
