/** One watch over a unix socket: calls back for every line of it, with nothing decoded. */
import { once } from 'node:events';
import { BenchError } from '../harness/operation.ts';
import { readingSocket } from './reading-socket.ts';
import { formatRequest, parseHead } from './response.ts';

/** A line of a watch is JSON and so has no other line break in it; the frames of a chunked answer have none after a brace. */
const LINE_END = '}\n';

/** Resolves when the server has answered, so that every later change is seen; returns the function that ends it. A line is to be read at once. */
export async function openWatch(socketPath: string, path: string, onLine: (line: Buffer) => void): Promise<() => void> {
  const lines = splitLines(onLine);
  let onBytes: (bytes: Buffer) => void = lines;
  const socket = readingSocket(socketPath, (bytes) => onBytes(bytes));
  await once(socket, 'connect');
  const answered = new Promise<Buffer>((resolve) => {
    onBytes = (bytes) => {
      onBytes = lines;
      resolve(Buffer.from(bytes));
    };
  });
  socket.on('error', () => undefined); // the missing event is then reported as lost
  socket.write(formatRequest({ method: 'GET', path }));
  const first = await answered;
  const head = parseHead(first);
  if (head?.status !== 200) throw new BenchError(`a watch was answered with ${head?.status}`);
  lines(first.subarray(head.bodyStart));
  return () => socket.destroy();
}

/** Takes pieces as they come, gives whole lines: from wherever the last one ended. */
export function splitLines(onLine: (line: Buffer) => void): (piece: Buffer) => void {
  let rest: Buffer = NOTHING;
  return (piece) => {
    let bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    for (let end = bytes.indexOf(LINE_END); end >= 0; end = bytes.indexOf(LINE_END)) {
      onLine(bytes.subarray(0, end + 1));
      bytes = bytes.subarray(end + LINE_END.length);
    }
    rest = bytes.length === 0 ? NOTHING : Buffer.from(bytes);
  };
}

const NOTHING = Buffer.alloc(0);
