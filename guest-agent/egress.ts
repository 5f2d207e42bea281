/** The way out for programs that know proxies: each connection to a port on loopback is passed on to the host's socket for this agent. */
import { connect, createServer, type Server, type Socket } from 'node:net';

export const EGRESS_PORT = 3128;

/** Reports what goes wrong with the listener; nothing here ends the guest. */
export function startEgress(options: { readonly socketPath: string; readonly port?: number; report(problem: string): void }): Server {
  const { socketPath, port = EGRESS_PORT, report } = options;
  const server = createServer({ allowHalfOpen: true }, (inner) => pass(inner, connect({ path: socketPath, allowHalfOpen: true })));
  server.on('error', (error) => report(`egress: ${error.message}`));
  server.listen(port, '127.0.0.1');
  return server;
}

/** Each direction ends by itself; a failure of one side ends both. */
function pass(inner: Socket, outer: Socket): void {
  for (const [from, to] of [
    [inner, outer],
    [outer, inner],
  ] as const) {
    from.pipe(to);
    from.once('error', () => to.destroy());
    from.once('close', () => to.destroySoon());
  }
}
