/**
 * As `server.listen`, for a process that is no part of a cluster. Before it binds, Node's own loads all that clusters are made of, child
 * processes and datagrams included, to find out that there is none.
 */
import type { Server } from 'node:net';

/** One IPv4 address, or a unix socket. */
export type Place = { readonly host: string; readonly port: number } | { readonly path: string };

const BACKLOG = 128;
/** For what a unix socket has none of. */
const NONE = -1;
const IPV4 = 4;

/** What `listen` itself goes on with. Node keeps its name because others wrap it, and promises nothing. */
type Binding = Server & {
  readonly _listen2?: (address: string, port: number, addressType: number, backlog: number, fd: undefined, flags: undefined) => void;
};

/** Bound when it returns; `listening` or `error` follows. */
export function listenAlone(server: Server, at: Place): void {
  const { _listen2: bind } = server as Binding;
  if (bind === undefined) server.listen({ ...at, backlog: BACKLOG });
  else if ('path' in at) bind.call(server, at.path, NONE, NONE, BACKLOG, undefined, undefined);
  else bind.call(server, at.host, at.port, IPV4, BACKLOG, undefined, undefined);
}
