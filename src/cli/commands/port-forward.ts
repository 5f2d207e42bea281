/** `agentiso port-forward`: ports of this machine that lead to ports inside an agent, for as long as it runs. */
import { type AddressInfo, createServer, type Server } from 'node:net';
import { getJson, resourcePath } from '#client/resource-api.ts';
import { messageOf, UnavailableError } from '#lib/errors.ts';
import { apiCommand, type Session, text } from '../api-command.ts';
import { EXIT } from '../command.ts';
import { forwardConnection } from '../streams/forward.ts';
import { meantBy, PODS, type PodPlace } from '../streams/pod.ts';
import { type PortPair, portPair } from '../streams/ports.ts';
import { UsageError } from '../usage-error.ts';

export const portForwardCommand = apiCommand({
  name: 'port-forward',
  args: '<agent> <ports...>',
  summary: 'reach ports inside an agent from this machine',
  description:
    'Listens on ports of this machine and passes every connection on to a port inside the agent, until Ctrl-C. Ports are PORT, LOCAL:REMOTE, or :REMOTE for any free local port.',
  options: [{ flags: '--address <addresses>', description: 'where to listen, with commas between several', default: '127.0.0.1' }],
  async run([word = '', ...words], options, session) {
    const pod = { namespace: session.namespace, name: meantBy(word).name };
    const pairs = words.map(portPair);
    const hosts = (text(options['address']) ?? '').split(',').filter((host) => host !== '');
    if (hosts.length === 0) throw new UsageError("option '--address <addresses>' is empty. Give an address of this machine.");
    await getJson(session.connection, resourcePath(PODS, pod), { signal: session.signal });
    const servers: Server[] = [];
    try {
      for (const pair of pairs) for (const host of hosts) servers.push(await listen(session, { pod, pair, host }));
      await interrupted(session.signal);
    } finally {
      for (const server of servers) server.close();
    }
    return EXIT.interrupted;
  },
});

interface Place {
  readonly pod: PodPlace;
  readonly pair: PortPair;
  readonly host: string;
}

function listen(session: Session, { pod, pair, host }: Place): Promise<Server> {
  const { local, remote } = pair;
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => {
    socket.on('error', () => socket.destroy());
    const close = () => socket.destroy();
    session.signal.addEventListener('abort', close, { once: true });
    socket.on('close', () => session.signal.removeEventListener('abort', close));
    forwardConnection(session, { pod, port: remote, local: socket }).catch((error: unknown) => {
      socket.destroy();
      if (!session.signal.aborted) session.err(`error: an error occurred forwarding ${portOf(server)} -> ${remote}: ${messageOf(error)}\n`);
    });
  });
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(new UnavailableError(`cannot listen on ${host}:${local}: ${error.message}`, { cause: error })));
    server.listen(local, host, () => {
      const shown = host.includes(':') ? `[${host}]` : host;
      session.out(`Forwarding from ${shown}:${portOf(server)} -> ${remote}\n`);
      resolve(server);
    });
  });
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo | null)?.port ?? 0;
}

function interrupted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
