/** The bare server as a contestant: the same bytes on the same kind of socket, asked by the same client. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchContext } from '../harness/operation.ts';
import { HttpClient } from './http-client.ts';
import { referencePath } from './programs.ts';
import { startServer } from './server-process.ts';

export async function connectFloor({ dir, own }: BenchContext, lines: readonly string[]): Promise<HttpClient> {
  const [socketPath, linesFile] = [join(dir, 'floor.sock'), join(dir, 'floor.jsonl')];
  writeFileSync(linesFile, lines.join('\n'));
  own(await startServer('the bare server', [referencePath('floor-server'), socketPath, linesFile]));
  const client = await HttpClient.connect(socketPath);
  own({ close: async () => client.close() });
  return client;
}
