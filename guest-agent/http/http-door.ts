/**
 * The agent's HTTP door, port 8080: opened by `configure` and not before. It is bound to one address, the workspace's own where peers may
 * come in, else loopback, and moves when the host says so.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIPv4 } from 'node:net';
import type { ConfigureParams, ControlResult } from '#protocol/control.ts';
import type { AgentVerbs } from '../agent-socket/verb-service.ts';
import type { Guest } from '../guest.ts';
import type { HostLink } from '../relay/link.ts';
import type { Inbox } from '../state/inbox.ts';
import { type Listener, listen } from './listener.ts';

export const HTTP_PORT = 8080;
const LOOPBACK = '127.0.0.1';
const REBIND_MS = 2_000;

export interface HttpParts {
  readonly guest: Guest;
  readonly inbox: Inbox;
  readonly host: Pick<HostLink, 'call'>;
  readonly verbs: AgentVerbs;
}

export class HttpDoor {
  readonly #parts: HttpParts;
  #settings: ConfigureParams | undefined;
  #listener: (Listener & { readonly address: string }) | undefined;
  #isClosed = false;
  #rebindTimer: NodeJS.Timeout | undefined;
  /** One change of the address at a time. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(parts: HttpParts) {
    this.#parts = parts;
  }

  /** Tokens and peers count from here on, also for connections that are open. */
  configure(params: ConfigureParams): Promise<ControlResult<'configure'>> {
    this.#settings = params;
    const bound = this.#last.then(() => this.#bind(params.httpAddress ?? LOOPBACK));
    this.#last = bound.catch(() => {});
    return bound;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#rebindTimer);
    await this.#last;
    await this.#unbind();
  }

  async #bind(address: string): Promise<ControlResult<'configure'>> {
    clearTimeout(this.#rebindTimer);
    if (this.#isClosed) return { httpProblem: 'the agent is stopping' };
    if (this.#listener?.address !== address) {
      await this.#unbind();
      const problem = await this.#listen(address);
      if (problem !== undefined) return { httpProblem: problem };
    }
    return { httpUrl: `http://${address}:${HTTP_PORT}` };
  }

  /** What is wrong with it, or undefined. */
  async #listen(address: string): Promise<string | undefined> {
    if (!isIPv4(address) || address === '0.0.0.0') return `HTTP needs one IPv4 address of the workspace, not ${address}`;
    try {
      const listener = await listen({
        at: { host: address, port: HTTP_PORT },
        onRequest: (request, response) => void this.#serve(request, response),
        onBroken: (error) => this.#rebindLater(address, error),
      });
      this.#listener = { ...listener, address };
      return undefined;
    } catch (error) {
      return `HTTP could not be bound to ${address}:${HTTP_PORT}: ${error instanceof Error ? error.message : String(error)}`;
    }
  }

  /** Loaded here: to most guests nobody comes. */
  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { serve } = await import('./serve.ts');
    if (this.#settings !== undefined) await serve({ parts: this.#parts, settings: this.#settings, request, response });
  }

  #rebindLater(address: string, error: Error): void {
    this.#parts.guest.log.write('guest', `HTTP on ${address} accepts no connections and is bound again: ${error.message}`);
    this.#last = this.#last.then(() => this.#unbind()).catch(() => {});
    this.#rebindTimer = setTimeout(() => {
      this.#last = this.#last
        .then(() => this.#bind(this.#settings?.httpAddress ?? LOOPBACK))
        .then(({ httpProblem }) => {
          if (httpProblem !== undefined) this.#rebindLater(address, new Error(httpProblem));
        })
        .catch(() => {});
    }, REBIND_MS);
    this.#rebindTimer.unref();
  }

  async #unbind(): Promise<void> {
    const listener = this.#listener;
    this.#listener = undefined;
    await listener?.close();
  }
}
