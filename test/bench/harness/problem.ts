/** Errors as text that may be published: no path of this machine in it. */
import { fileURLToPath } from 'node:url';
import { messageOf } from '#lib/errors.ts';

const REPOSITORY = fileURLToPath(new URL('../../..', import.meta.url));

export interface Problem {
  readonly message: string;
  /** Where it came from, for the terminal only. */
  readonly stack?: string;
}

export function toProblem(error: unknown, dataDir: string): Problem {
  const scrub = (text: string): string =>
    text.replaceAll(dataDir, 'DATA').replaceAll(`file://${REPOSITORY}`, '').replaceAll(REPOSITORY, '');
  const message = scrub(messageOf(error).split('\n', 1)[0] ?? '');
  return error instanceof Error && error.stack ? { message, stack: scrub(error.stack) } : { message };
}
