/**
 * The door for the programs of the workspace, `agent.sock` in the run directory. Who can open the socket is the agent: it belongs to its
 * user alone. It is opened with the first configuration, which is before the first task starts.
 */
import { rmSync, statSync } from 'node:fs';
import type { ConfigureParams } from '#protocol/control.ts';
import type { Guest } from '../guest.ts';
import { type Listener, listen } from '../http/listener.ts';
import type { AgentVerbs } from './verb-service.ts';

/** Longer than the longest wait, in which nothing moves. */
export const IDLE_MS = 150_000;
const REOPEN_MS = 2_000;

export interface AgentDoorParts {
  readonly guest: Guest;
  readonly verbs: AgentVerbs;
}

interface Opened {
  readonly listener: Listener;
  readonly inode: number | undefined;
}

export class AgentDoor {
  readonly #parts: AgentDoorParts;
  #opened: Opened | undefined;
  #isClosed = false;
  #reopenTimer: NodeJS.Timeout | undefined;
  /** One change at a time. */
  #last: Promise<void> = Promise.resolve();

  constructor(parts: AgentDoorParts) {
    this.#parts = parts;
  }

  /** Opens it, or opens it again where somebody has taken the socket away. A failure is logged: the agent can work without. */
  configure({ card }: Pick<ConfigureParams, 'card'>): Promise<void> {
    this.#last = this.#last
      .then(() => this.#open(card))
      .catch((error: Error) => this.#parts.guest.log.write('guest', `${this.#parts.guest.agentSocket}: ${error.message}`));
    return this.#last;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#reopenTimer);
    await this.#last;
    await this.#shut();
  }

  async #shut(): Promise<void> {
    const opened = this.#isInPlace ? this.#opened : undefined;
    this.#opened = undefined;
    // Another guest may have put its own in this place: closing would take that one away.
    await opened?.listener.close();
  }

  #reopenLater(card: ConfigureParams['card'], error: Error): void {
    const { log, agentSocket } = this.#parts.guest;
    log.write('guest', `${agentSocket} accepts no connections and is opened again: ${error.message}`);
    this.#last = this.#last.then(() => this.#shut());
    this.#reopenTimer = setTimeout(() => void this.configure({ card }), REOPEN_MS);
    this.#reopenTimer.unref();
  }

  async #open(card: ConfigureParams['card']): Promise<void> {
    if (this.#isClosed) return;
    const { guest, verbs } = this.#parts;
    await verbs.configure({ card });
    if (this.#opened !== undefined && this.#isInPlace) return;
    const path = guest.agentSocket;
    // Of a guest that was killed.
    rmSync(path, { force: true });
    const listener = await listen({
      at: { path },
      idleMs: IDLE_MS,
      // Loaded with the first of them: many guests get none.
      onRequest: (request, response) => void import('./serve-verb.ts').then(({ serveVerb }) => serveVerb(verbs.get(), request, response)),
      onBroken: (error) => this.#reopenLater(card, error),
    });
    this.#opened = { listener, inode: inodeOf(path) };
    // When the host has its answer: a start does not wait for it, and no command comes before.
    if (guest.mcpClients !== undefined) setImmediate(() => void this.#tellClients());
  }

  /** Settings by which MCP clients find this socket, in a home that is the agent's own. */
  async #tellClients(): Promise<void> {
    const { agentSocket: socket, mcpClients, log } = this.#parts.guest;
    if (mcpClients === undefined) return;
    try {
      const [{ clientConfigs }, { hasConfigs, writeConfigs }] = await Promise.all([
        import('../mcp/client-configs.ts'),
        import('../mcp/write-configs.ts'),
      ]);
      const configs = clientConfigs({ command: mcpClients.command, socket, node: process.execPath });
      if (!hasConfigs(mcpClients.home, configs)) writeConfigs(mcpClients.home, configs);
    } catch (error) {
      log.write('guest', `the settings of MCP clients were not written: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  get #isInPlace(): boolean {
    return this.#opened?.inode !== undefined && inodeOf(this.#parts.guest.agentSocket) === this.#opened.inode;
  }
}

function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}
