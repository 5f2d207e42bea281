/** The way out for programs that know proxies: each connection to a port on loopback is passed on to the host's proxy for this agent. */
import { connect, createServer, type Server, type Socket } from 'node:net';

export const EGRESS_PORT = 3128;

export interface WayOut {
  /** Takes a connection over: `passToSocket`, or what a machine has in its place. */
  pass(inner: Socket): void;
  /** 0: any that is free. */
  readonly port?: number;
  /** Who may come in; everybody when absent. */
  readonly isWelcome?: (inner: Socket) => boolean;
  report(problem: string): void;
}

/** Reports what goes wrong with the listener; nothing here ends the guest. */
export function startEgress({ pass, port = EGRESS_PORT, isWelcome = () => true, report }: WayOut): Server {
  const server = createServer({ allowHalfOpen: true }, (inner) => {
    if (isWelcome(inner)) pass(inner);
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

export function passToSocket(path: string): WayOut['pass'] {
  return (inner) => join(inner, connect({ path, allowHalfOpen: true }));
}

/** Each direction ends by itself; a failure of one side ends both. */
function join(inner: Socket, outer: Socket): void {
  for (const [from, to] of [
    [inner, outer],
    [outer, inner],
  ] as const) {
    from.pipe(to);
    from.once('error', () => to.destroy());
    from.once('close', () => to.destroySoon());
  }
}
