/**
 * What a daemon that has just started must be told so that the client's session goes on: how it introduced itself, and what it follows.
 * The answers are for nobody.
 */
import type { RequestId, RpcMessage } from '#lib/json-rpc.ts';

/** No client has such ids. */
const OWN_ID = 'agentiso-again-';

export class Handshake {
  #initialize: RpcMessage | undefined;
  #isAccepted = false;
  #hasConfirmed = false;
  #logLevel: RpcMessage | undefined;
  readonly #followed = new Map<string, RpcMessage>();
  #count = 0;

  /** There is a session that can go on. */
  get isAccepted(): boolean {
    return this.#isAccepted;
  }

  get followed(): readonly string[] {
    return [...this.#followed.keys()];
  }

  /** The client said this. */
  said(message: RpcMessage): void {
    const uri = String(message.params?.['uri']);
    switch (message.method) {
      case 'initialize':
        this.#initialize = message;
        this.#isAccepted = false;
        break;
      case 'notifications/initialized':
        this.#hasConfirmed = true;
        break;
      case 'logging/setLevel':
        this.#logLevel = message;
        break;
      case 'resources/subscribe':
        this.#followed.set(uri, message);
        break;
      case 'resources/unsubscribe':
        this.#followed.delete(uri);
        break;
      default:
    }
  }

  /** The daemon answered this request. */
  answered(id: RequestId): void {
    if (this.#initialize !== undefined && id === this.#initialize.id) this.#isAccepted = true;
  }

  /** What to say to the next daemon, in this order. */
  again(): readonly RpcMessage[] {
    if (!this.#initialize || !this.#isAccepted) return [];
    const confirmed: RpcMessage[] = this.#hasConfirmed ? [{ jsonrpc: '2.0', method: 'notifications/initialized' }] : [];
    const others = [...(this.#logLevel ? [this.#logLevel] : []), ...this.#followed.values()];
    return [this.#withOwnId(this.#initialize), ...confirmed, ...others.map((message) => this.#withOwnId(message))];
  }

  #withOwnId(message: RpcMessage): RpcMessage {
    this.#count++;
    return { ...message, id: `${OWN_ID}${this.#count}` };
  }
}

export function isOwnId(id: RequestId | undefined): boolean {
  return typeof id === 'string' && id.startsWith(OWN_ID);
}
