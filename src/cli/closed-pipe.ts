/** The exit code when the reader of our output left before the end. Pure. */
import { EXIT } from './command.ts';

/** Whoever reads on with `| head` has seen enough; everything else was kept from doing what it was asked to do. */
const READERS = [
  ...['get', 'describe', 'explain', 'events', 'logs', 'output', 'transcript', 'messages', 'inbox', 'board', 'top', 'why'],
  ...['api-resources', 'config', 'help'],
];
/** What a shell says of a program that SIGPIPE ended. */
const BROKEN_PIPE = 141;

export function afterClosedPipe(argv: readonly string[], exitCode: number): number {
  if (exitCode !== EXIT.interrupted) return exitCode;
  return READERS.some((name) => argv.includes(name)) ? EXIT.ok : BROKEN_PIPE;
}
