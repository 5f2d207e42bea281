/**
 * The command `team`: what the programs of a workspace can do in its team. One small file that starts quickly: it loads nothing before it is
 * needed, and writes without Node's streams.
 */
import { writeSync } from 'node:fs';
import { ask } from './client.ts';
import { mcpCommand } from './mcp-command.ts';
import { runTeam } from './program.ts';

/** What the guest takes at once. */
const MAX_INPUT_BYTES = 4 * 1024 * 1024;
const FULL_PIPE_MS = 5;

/** All of it, also into a pipe that does not block and is full at the moment. */
function write(descriptor: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(descriptor, bytes, at);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, FULL_PIPE_MS);
    }
  }
}

async function readInput(): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin) {
    bytes += chunk.length;
    if (bytes > MAX_INPUT_BYTES) throw new Error(`standard input has more than ${MAX_INPUT_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

const context = {
  print: (text: string) => write(1, text),
  complain: (text: string) => write(2, `team: ${text}\n`),
  readInput,
  ask: (verb: string, params?: object) => ask(process.env['AGENTISO_SOCKET'], verb, params),
};

const mcp = mcpCommand({
  socket: process.env['AGENTISO_SOCKET'],
  node: process.env['AGENTISO_NODE'],
  program: process.argv[1] ?? '',
  // Looked at by this command alone: it is a stream from then on.
  input: () => process.stdin,
  leave: () => process.exit(1),
});

runTeam(process.argv.slice(2), context, { mcp }).then(
  (code) => process.exit(code),
  // Nobody reads what it has to say.
  () => process.exit(1),
);
