/** The host's side of the relay connection: hints go in, signs of life and messages come out. */
import type { Duplex } from 'node:stream';
import type { AgentisoError } from '#lib/errors.ts';
import { Channel } from '#protocol/channel.ts';
import { CONTROL_PORT } from '#protocol/common.ts';
import { type AttemptKey, control } from '#protocol/control.ts';
import { ProtocolError } from '#protocol/protocol-error.ts';
import { type Envelope, type RelayToHostHandlers, relayToGuest, relayToHost } from '#protocol/relay.ts';
import { type ConnectOptions, greet, toAgentisoError } from './handshake.ts';
import { Hints } from './hints.ts';

export interface RelayClient {
  readonly closed: Promise<AgentisoError>;
  /** Never waits, never fails: a lost hint is made up for by the guest's own look. */
  hint(nextSeq: number, messages?: readonly Envelope[], jsons?: readonly string[]): void;
  /** With the next hint, or soon without one. Rejects when the guest has not answered: it may not know of it. */
  accepted(keys: readonly AttemptKey[]): Promise<void>;
  close(reason: string): void;
}

export interface RelayOptions extends ConnectOptions {
  readonly handlers: RelayToHostHandlers;
}

const HINT_MS = 5_000;

/** Takes over the stream, also when it rejects. What the guest asks is answered once it has been greeted, however early it asks. */
export async function connectRelay(stream: Duplex, { handlers, ...options }: RelayOptions): Promise<RelayClient> {
  let settle: (greeting: Promise<unknown>) => void = () => {};
  const greeted = new Promise<unknown>((resolve) => {
    settle = resolve;
  });
  const channel = new Channel(stream, {
    outgoing: relayToGuest,
    incoming: relayToHost,
    handlers: afterGreeting(handlers, greeted),
    explainUnknown: (type) => (Object.hasOwn(control, type) ? `${type} belongs to port ${CONTROL_PORT}` : undefined),
  });
  const greeting = greet(channel, options);
  settle(greeting);
  // Whoever connects hears of a failed greeting; a guest that asked too early only hears that the line is gone.
  greeted.catch(() => {});
  await greeting;
  const hints = new Hints((hint) => {
    const answer = channel.callWithJson('messageHint', hint, { deadlineMs: HINT_MS });
    // Before the sender hears of it: whoever is to read it waits, and the sender has what it wanted.
    channel.flush();
    return answer;
  });
  return {
    closed: channel.closed.then(toAgentisoError),
    hint: (nextSeq, messages, jsons) => hints.add(nextSeq, messages, jsons),
    accepted: (keys) => hints.accept(keys),
    close: (reason) => channel.close(new ProtocolError('Unavailable', reason)),
  };
}

/** The answer to hello and the guest's first words may arrive together. */
function afterGreeting(handlers: RelayToHostHandlers, greeted: Promise<unknown>): RelayToHostHandlers {
  let isGreeted = false;
  void greeted.then(
    () => {
      isGreeted = true;
    },
    () => {},
  );
  const waiting = Object.entries(handlers).map(([name, handler]) => {
    const answer = handler as (params: unknown, context: unknown) => Promise<unknown>;
    return [
      name,
      (params: unknown, context: unknown) => (isGreeted ? answer(params, context) : greeted.then(() => answer(params, context))),
    ];
  });
  return Object.fromEntries(waiting);
}
