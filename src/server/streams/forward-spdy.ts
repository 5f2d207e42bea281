/**
 * Port forwarding as kubectl speaks it: a SPDY session in which each connection is two streams, one for data and one for what goes wrong,
 * told apart by their headers.
 */
import { messageOf } from '#lib/errors.ts';
import type { SpdyStream } from '../spdy/stream.ts';
import { type Forwarding, portOf } from './forwarding.ts';
import { join } from './join.ts';

/** A stream whose other half does not come is given up. */
const PAIR_MS = 30_000;

interface Half {
  readonly stream: SpdyStream;
  readonly timer: NodeJS.Timeout;
}

export function spdyForwarder(forwarding: Forwarding): (stream: SpdyStream) => void {
  const halves = new Map<string, Half>();
  return (stream) => {
    const { streamtype: type } = stream.headers;
    if (type !== 'error' && type !== 'data') {
      stream.destroy();
      return;
    }
    const id = idOf(stream, type);
    const other = halves.get(id);
    if (!other || other.stream.headers['streamtype'] === type) {
      other?.stream.destroy();
      const timer = setTimeout(() => stream.destroy(), PAIR_MS).unref();
      halves.set(id, { stream, timer });
      stream.on('close', () => {
        clearTimeout(timer);
        if (halves.get(id)?.stream === stream) halves.delete(id);
      });
      return;
    }
    halves.delete(id);
    clearTimeout(other.timer);
    const [data, errors] = type === 'data' ? [stream, other.stream] : [other.stream, stream];
    void forward(data, errors, forwarding);
  };
}

/** Clients of old say no request: then the data stream is the one after the error stream. */
function idOf({ id, headers }: SpdyStream, type: 'error' | 'data'): string {
  return headers['requestid'] ?? `stream ${type === 'error' ? id : id - 2}`;
}

async function forward(data: SpdyStream, errors: SpdyStream, { agentIo, agent, signal }: Forwarding): Promise<void> {
  // Nothing comes on it; but its end must be seen.
  errors.resume();
  const gone = new AbortController();
  data.on('close', () => gone.abort());
  const port = portOf(data.headers['port'] ?? '');
  try {
    if (port === undefined) throw new Error(`${JSON.stringify(data.headers['port'] ?? '')} is no port`);
    const target = await agentIo.portForward(agent, port, AbortSignal.any([signal, gone.signal]));
    await join(data, target);
  } catch (error) {
    if (errors.writable) errors.write(`error forwarding port ${port} to pod ${agent.name}, uid ${agent.uid}: ${messageOf(error)}`);
    data.destroy();
  } finally {
    if (errors.writable) errors.end();
    else errors.destroy();
  }
}
