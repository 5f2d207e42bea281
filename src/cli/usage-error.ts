/** The command line itself is wrong: exit code 2, and a pointer to the help unless a hint takes its place; the empty hint is none. */
import { AgentisoError, type ErrorDetails } from '#lib/errors.ts';
import { nearest } from '#lib/suggest.ts';

export class UsageError extends AgentisoError {
  constructor(message: string, details: ErrorDetails = {}) {
    super('Invalid', message, details);
  }
}

/** A word that nobody knows, with the one that was probably meant. */
export function unknownWord(complaint: string, word: string, known: readonly string[]): UsageError {
  const meant = nearest(word, known);
  return meant ? new UsageError(`${complaint}; did you mean ${meant}?`, { hint: '' }) : new UsageError(complaint);
}
