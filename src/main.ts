#!/usr/bin/env node
/** The program: turns the process (arguments, environment, signals, streams) into a command's context, and its answer into an exit code. */
import { runCli } from '#cli/index.ts';

declare const AGENTISO_VERSION: string | undefined;

const interrupted = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.on(name, () => {
    // A second Ctrl-C means it.
    if (interrupted.signal.aborted) process.exit(130);
    interrupted.abort();
  });
}

process.exitCode = await runCli(process.argv.slice(2), {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  signal: interrupted.signal,
  version: typeof AGENTISO_VERSION === 'string' ? AGENTISO_VERSION : 'source',
  home: process.env['AGENTISO_HOME'],
  startDaemon: async (options) => (await import('./daemon.ts')).startDaemon(options),
});
