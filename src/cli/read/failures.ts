/** Several requests of one command: what some of them answer is shown even when others fail, and every failure is told. */
import { isNotFound } from '#client/status-error.ts';
import { errorText, type Session } from '../api-command.ts';

export interface Settled<T> {
  readonly values: readonly T[];
  readonly failures: readonly unknown[];
}

export interface SettleOptions {
  readonly ignoreNotFound?: boolean;
}

export async function settle<T>(work: readonly Promise<T>[], { ignoreNotFound }: SettleOptions = {}): Promise<Settled<T>> {
  const results = await Promise.allSettled(work);
  const values = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
  return { values, failures: ignoreNotFound ? failures.filter((failure) => !isNotFound(failure)) : failures };
}

/** One line each, the same words once; what cannot be told in a line is thrown. */
export function tellFailures(failures: readonly unknown[], { err }: Pick<Session, 'err'>): void {
  const lines = failures.map((failure) => {
    const line = errorText(failure);
    if (line === undefined) throw failure;
    return line;
  });
  for (const line of new Set(lines)) err(line);
}
