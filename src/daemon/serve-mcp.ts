/**
 * MCP of one home: the private socket and the desk at `/mcp`. What they offer is loaded when the first client comes: a daemon that nobody
 * asks by MCP does not pay for it.
 */
import { realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Connection } from '#client/connection.ts';
import { socketConnection } from '#client/socket-connection.ts';
import { socketPath } from '#lib/socket-path.ts';
import { asCaller } from '#mcp/as-caller.ts';
import { listenSocket, type PrivateDoor } from '#mcp/listen-socket.ts';
import type { Mcp, OpenMcpOptions } from '#mcp/open-mcp.ts';
import type { Api } from '#server/api.ts';
import type { Desk } from '#server/desk.ts';
import { ownConnection } from './own-connection.ts';

export interface ServeMcpOptions extends Omit<OpenMcpOptions, 'connect' | 'homes'> {
  readonly home: string;
  /** The API of this daemon; asked once clients come. */
  readonly ask: Api['ask'];
}

export interface ServedMcp {
  /** For the API, below `/mcp`. */
  readonly desk: Desk;
  /** Opens HOME/mcp.sock, once the API can be asked. */
  listen(): Promise<void>;
  /** Sessions end, the socket closes. */
  close(): Promise<void>;
}

/** Of one session: what it follows takes up to four each, and calls that wait one. */
const MAX_SOCKETS = 256;
/** Whoever can open the socket can do everything else here as well. */
const ADMIN = { user: 'admin', role: 'admin' } as const;

export function serveMcp({ home: given, ask, ...options }: ServeMcpOptions): ServedMcp {
  const home = resolve(given);
  const api = socketPath(join(home, 'agentiso.sock'));
  const connect = (authorization?: string) => asCaller(ownConnection({ ask, wire: openApi(api.path) }), authorization);
  let loading: Promise<Mcp> | undefined;
  const load = () => {
    loading ??= import('#mcp/open-mcp.ts').then(({ openMcp }) => openMcp({ ...options, homes: spellings(home), connect }));
    return loading;
  };
  let door: PrivateDoor | undefined;
  return {
    desk: {
      may: () => true,
      answer: () => Promise.reject(new Error('this desk answers by itself')),
      async serve({ request, response, identity: { user, role, agent }, enter }) {
        const { http } = await load();
        await http.serve({ request, response, enter, caller: { user, role, ...(agent && { agent }) } });
      },
      end(user) {
        void loading?.then(({ http }) => http.end(user)).catch(() => {});
      },
    },
    async listen() {
      door = await listenSocket(join(home, 'mcp.sock'), (socket) => {
        // What the client says before all is loaded waits in the socket.
        load()
          .then((mcp) => mcp.openLines(socket, ADMIN))
          .catch((error: unknown) => {
            options.log.error({ err: error }, 'an MCP client could not be served');
            socket.destroy();
          });
      });
    },
    async close() {
      await door?.close();
      await (await loading)?.close();
      api.release();
    },
  };
}

function spellings(home: string): readonly string[] {
  return [...new Set([realpathSync(home), home])];
}

function openApi(path: string): Connection {
  return socketConnection({
    name: 'the daemon',
    socketPath: path,
    maxSockets: MAX_SOCKETS,
    whenUnavailable: () => 'the daemon does not answer; it may be stopping',
  });
}
