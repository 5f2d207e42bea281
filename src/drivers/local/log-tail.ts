/** The last lines of a file that may be long. */
import { open } from 'node:fs/promises';

const MAX_BYTES = 8192;
const MAX_LINES = 30;

export async function readLogTail(path: string): Promise<string> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const length = Math.min(size, MAX_BYTES);
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(length), position: size - length });
    return buffer.toString('utf8', 0, bytesRead).trimEnd().split('\n').slice(-MAX_LINES).join('\n');
  } finally {
    await file.close();
  }
}
