/** The host as this guest reaches it: the newest relay connection, if there is one. */
import type { Channel } from '#protocol/channel.ts';
import { ProtocolError } from '#protocol/protocol-error.ts';
import type { RelayHostMethodName, RelayHostParams, RelayHostResult, RelayToGuest, RelayToHost } from '#protocol/relay.ts';
import { CallRoom } from './call-room.ts';
import { Outbox } from './outbox.ts';

/** For an answer, where nobody says otherwise. */
const CALL_MS = 10_000;
/** Fewer than the host takes on one connection, with room for the guest's own. */
const MAX_ASKED = 200;
/** What the guest says by itself, a few at a time: signs of life do not wait for what programs ask. */
const OWN: readonly RelayHostMethodName[] = ['heartbeat', 'teamReceive', 'teamAck'];

/** A relay connection, as far as the guest uses it. */
export type RelayChannel = Pick<Channel<RelayToHost, RelayToGuest>, 'call' | 'closed'>;

/** Something that works only while there is a connection. */
export interface Attachment {
  start(): void;
  stop(): void;
}

export interface HostCallOptions {
  /** Gives the call up, at the host as well. */
  readonly signal?: AbortSignal;
  readonly deadlineMs?: number;
}

export class HostLink {
  readonly #attachments: Attachment[] = [];
  #channel: RelayChannel | undefined;
  /** Given up when another connection takes over: calls on the old one would wait for an answer that may never come. */
  readonly #calls = new Set<(reason: ProtocolError) => void>();
  readonly #room = new CallRoom(MAX_ASKED);
  readonly #outbox = new Outbox({
    sendOne: (message, options) => this.#call('teamMessage', message, options),
    sendSeveral: (messages) => this.#call('teamMessages', { messages }),
  });

  add(attachment: Attachment): void {
    this.#attachments.push(attachment);
  }

  attach(channel: RelayChannel): void {
    this.#detach();
    this.#channel = channel;
    void channel.closed.then(() => {
      if (this.#channel === channel) this.#detach();
    });
    // The answer to hello goes first: the host takes nothing before it.
    setImmediate(() => {
      if (this.#channel === channel) for (const attachment of this.#attachments) attachment.start();
    });
  }

  /** Rejects with ProtocolError, Unavailable without a connection, or with the reason of the signal. */
  call<M extends RelayHostMethodName>(method: M, params: RelayHostParams<M>, options: HostCallOptions = {}): Promise<RelayHostResult<M>> {
    if (method === 'teamMessage' && this.#channel !== undefined && (options.deadlineMs ?? CALL_MS) === CALL_MS) {
      const sent = this.#outbox.send(params as RelayHostParams<'teamMessage'>, options);
      if (sent !== undefined) return sent as Promise<RelayHostResult<M>>;
    }
    // What was said before goes first.
    this.#outbox.flush();
    return this.#call(method, params, options);
  }

  async #call<M extends RelayHostMethodName>(
    method: M,
    params: RelayHostParams<M>,
    options: HostCallOptions = {},
  ): Promise<RelayHostResult<M>> {
    if (OWN.includes(method)) return this.#callNow(method, params, options);
    const turn = this.#room.enter(options.signal);
    if (turn !== undefined) await turn;
    try {
      return await this.#callNow(method, params, options);
    } finally {
      this.#room.leave();
    }
  }

  async #callNow<M extends RelayHostMethodName>(
    method: M,
    params: RelayHostParams<M>,
    { signal, deadlineMs = CALL_MS }: HostCallOptions,
  ): Promise<RelayHostResult<M>> {
    if (this.#channel === undefined) throw new ProtocolError('Unavailable', 'the host is not connected');
    const answer = this.#channel.call(method, params, { deadlineMs, ...(signal && { signal }) });
    // By hand: a signal that hundreds of calls listen to looks through all of them with each new one.
    return new Promise((resolve, reject) => {
      this.#calls.add(reject);
      answer.then(
        (result) => {
          this.#calls.delete(reject);
          resolve(result);
        },
        (error: unknown) => {
          this.#calls.delete(reject);
          reject(error);
        },
      );
    });
  }

  close(): void {
    this.#detach();
  }

  #detach(): void {
    if (this.#channel === undefined) return;
    this.#channel = undefined;
    for (const attachment of this.#attachments) attachment.stop();
    const reason = new ProtocolError('Unavailable', 'another connection of the host took over');
    this.#room.clear(reason);
    for (const giveUp of this.#calls) giveUp(reason);
    this.#calls.clear();
  }
}
