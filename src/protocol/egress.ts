/** The way out of a virtual machine: what its programs say to the agent's proxy has a port of its own, and so delays no message. */
import { common, nothing } from './common.ts';
import { type HandlersOf, streaming } from './method.ts';

export const egressToGuest = common;

export const egressToHost = {
  /** One connection to the proxy, from its first byte to its last. */
  egressConnect: streaming(nothing, nothing, { up: ['data'], down: ['data'] }),
};

export type EgressToGuest = typeof egressToGuest;
export type EgressToHost = typeof egressToHost;
export type EgressToHostHandlers = HandlersOf<EgressToHost>;
