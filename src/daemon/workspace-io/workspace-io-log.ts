/** The newest part of an agent's log, so much of it as fits. */
import type { WorkspaceLog } from '#mcp/workspace-io.ts';

const NEWLINE = 0x0a;

/** Reads to the end and keeps whole lines from the end backwards. */
export async function keepNewest(stream: AsyncIterable<Buffer>, maxBytes: number): Promise<WorkspaceLog> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let isTruncated = false;
  for await (const chunk of stream) {
    chunks.push(chunk);
    bytes += chunk.length;
    while (bytes - (chunks[0]?.length ?? 0) >= maxBytes) {
      bytes -= chunks.shift()?.length ?? 0;
      isTruncated = true;
    }
  }
  const kept = Buffer.concat(chunks);
  if (!isTruncated && kept.length <= maxBytes) return { text: kept.toString(), isTruncated: false };
  const newest = kept.subarray(Math.max(0, kept.length - maxBytes));
  // Also where a line happens to begin there: nothing tells.
  return { text: newest.toString('utf8', newest.indexOf(NEWLINE) + 1), isTruncated: true };
}
