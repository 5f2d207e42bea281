/** The way out for programs that know proxies: each connection to a port on loopback is passed on to the host's socket for this agent. */
import { connect, createServer, type Server, type Socket } from 'node:net';

export const EGRESS_PORT = 3128;

export interface WayOut {
  readonly socketPath: string;
  /** 0: any that is free. */
  readonly port?: number;
  /** Who may come in; everybody when absent. */
  readonly isWelcome?: (inner: Socket) => boolean;
  report(problem: string): void;
}

/** Reports what goes wrong with the listener; nothing here ends the guest. */
export function startEgress({ socketPath, port = EGRESS_PORT, isWelcome = () => true, report }: WayOut): Server {
  const server = createServer({ allowHalfOpen: true }, (inner) => {
    if (isWelcome(inner)) pass(inner, connect({ path: socketPath, allowHalfOpen: true }));
    else inner.destroy();
  });
  server.on('error', (error) => report(`egress: ${error.message}`));
  server.listen(port, '127.0.0.1');
  return server;
}

/** Undefined while, or when, it does not listen. */
export function portOf(server: Server | undefined): number | undefined {
  const address = server?.address();
  return typeof address === 'object' ? address?.port : undefined;
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
