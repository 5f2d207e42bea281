/** One watch over a unix socket: calls back for every line of it, with nothing decoded. */
import { once } from 'node:events';
import { createConnection } from 'node:net';
import { BenchError } from '../harness/operation.ts';
import { formatRequest, parseHead } from './response.ts';

/** A line of a watch is JSON and so has no other line break in it; the frames of a chunked answer have none after a brace. */
const LINE_END = '}\n';

/** Resolves when the server has answered, so that every later change is seen; returns the function that ends it. */
export async function openWatch(socketPath: string, path: string, onLine: (line: Buffer) => void): Promise<() => void> {
  const socket = createConnection(socketPath);
  await once(socket, 'connect');
  socket.write(formatRequest({ method: 'GET', path }));
  const [first] = (await once(socket, 'data')) as [Buffer];
  const head = parseHead(first);
  if (head?.status !== 200) throw new BenchError(`a watch was answered with ${head?.status}`);
  const lines = splitLines(onLine);
  lines(first.subarray(head.bodyStart));
  socket.on('data', lines);
  socket.on('error', () => undefined); // the missing event is then reported as lost
  return () => socket.destroy();
}

/** Takes pieces as they come, gives whole lines: from wherever the last one ended. */
export function splitLines(onLine: (line: Buffer) => void): (piece: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  return (piece) => {
    let bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    for (let end = bytes.indexOf(LINE_END); end >= 0; end = bytes.indexOf(LINE_END)) {
      onLine(bytes.subarray(0, end + 1));
      bytes = bytes.subarray(end + LINE_END.length);
    }
    rest = bytes;
  };
}
