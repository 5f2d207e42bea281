/** The guest's ends of the two kinds of connection: greets, then hands requests to the handlers. */
import type { Duplex } from 'node:stream';
import { Channel } from '#protocol/channel.ts';
import { CONTROL_PORT, type HelloParams, type HelloResult, RELAY_PORT } from '#protocol/common.ts';
import { type ControlHandlers, control } from '#protocol/control.ts';
import { ProtocolError } from '#protocol/protocol-error.ts';
import { type RelayToGuest, type RelayToHost, relayToGuest, relayToHost } from '#protocol/relay.ts';
import type { Binding, Bound } from './binding.ts';
import { greet } from './handlers/hello.ts';
import { ping } from './handlers/ping.ts';

const HELLO_MS = 10_000;

/** What comes before hello on one connection. */
class Gate {
  readonly #binding: Binding;
  #isGreeted = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(binding: Binding) {
    this.#binding = binding;
  }

  /** A member of the warm pool waits for its identity as long as it takes. */
  watch(channel: { close(reason: ProtocolError): void; readonly closed: Promise<unknown> }): void {
    if (this.#binding.bound === undefined) return;
    this.#timer = setTimeout(() => channel.close(new ProtocolError('Timeout', `no hello within ${HELLO_MS} ms`)), HELLO_MS);
    void channel.closed.then(() => clearTimeout(this.#timer));
  }

  admit(type: string): void {
    if (this.#isGreeted || type === 'bind' || type === 'prepare') return;
    if (this.#binding.bound === undefined)
      throw new ProtocolError('Forbidden', `this guest has no identity yet: bind must come before ${type}`);
    if (type !== 'hello') throw new ProtocolError('Forbidden', `hello must come before ${type}`);
  }

  hello(params: HelloParams): HelloResult {
    const result = greet(this.#binding.get().guest, params);
    this.#isGreeted = true;
    clearTimeout(this.#timer);
    return result;
  }
}

export function serveControl(binding: Binding, socket: Duplex): void {
  const gate = new Gate(binding);
  const handlers: ControlHandlers = {
    ...passOn(binding),
    ping,
    hello: async (params) => gate.hello(params),
    bind: async (identity) => {
      await binding.bind(identity);
      return {};
    },
    prepare: async (machine) => {
      await binding.prepare(machine);
      return {};
    },
    wake: async (now) => {
      await binding.wake(now);
      return {};
    },
  };
  const channel = new Channel(socket, {
    outgoing: {},
    incoming: control,
    handlers,
    admit: (type) => gate.admit(type),
    explainUnknown: (type) =>
      isIn(relayToGuest, type) || isIn(relayToHost, type) ? `${type} belongs to the relay connection, port ${RELAY_PORT}` : undefined,
  });
  gate.watch(channel);
}

export function serveRelay(binding: Binding, socket: Duplex): void {
  const gate = new Gate(binding);
  const channel: Channel<RelayToHost, RelayToGuest> = new Channel(socket, {
    outgoing: relayToHost,
    incoming: relayToGuest,
    handlers: {
      ping,
      messageHint: (params, context) => binding.get().relay.relayHandlers.messageHint(params, context),
      hello: async (params) => {
        const result = gate.hello(params);
        binding.get().relay.attach(channel);
        return result;
      },
    },
    admit: (type) => gate.admit(type),
    explainUnknown: (type) => (isIn(control, type) ? `${type} belongs to the control connection, port ${CONTROL_PORT}` : undefined),
  });
  gate.watch(channel);
}

/** On a connection that is older than the guest's identity, the handlers are there only when they are needed. */
function passOn(binding: Binding): Bound['handlers'] {
  if (binding.bound !== undefined) return binding.bound.handlers;
  const names = Object.keys(control) as (keyof Bound['handlers'])[];
  type AnyHandler = (params: unknown, context: unknown) => Promise<unknown>;
  const passed = names.map((name): [string, AnyHandler] => [
    name,
    (params, context) => (binding.get().handlers[name] as AnyHandler)(params, context),
  ]);
  // The same names, and each with the params and the result of the one it stands for.
  return Object.fromEntries(passed) as unknown as Bound['handlers'];
}

function isIn(methods: object, type: string): boolean {
  return Object.hasOwn(methods, type);
}
