/** How many messages a person wants to see. Pure. */
import type { OptionValues } from '../command.ts';
import { UsageError } from '../usage-error.ts';

const MOST = 1_000;

export function limitOf(value: OptionValues[string]): number {
  const limit = Number(value);
  if (typeof value === 'string' && Number.isInteger(limit) && limit >= 1 && limit <= MOST) return limit;
  throw new UsageError(`option '--limit' argument '${String(value)}' is invalid. Give a number from 1 to ${MOST}.`);
}
