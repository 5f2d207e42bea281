/** Query parameters the way Go reads them: words, booleans, numbers. Pure. */
import { badRequest, failure, type StatusCause } from './status.ts';

/** Absent, `0` and `false` are false; everything else is true, the empty value too. */
export function flag(query: URLSearchParams, name: string): boolean {
  const value = query.get(name);
  return value !== null && value !== '0' && value.toLowerCase() !== 'false';
}

/** Undefined when absent; refused when it is not a whole number. */
export function integer(query: URLSearchParams, name: string): number | undefined {
  const value = query.get(name);
  if (value === null) return undefined;
  if (/^[+-]?\d{1,18}$/.test(value)) return Number(value);
  throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(value)}: invalid syntax`);
}

export function text(query: URLSearchParams, name: string): string | undefined {
  const value = query.get(name);
  return value === null || value === '' ? undefined : value;
}

/** Options that are refused together: `ListOptions.meta.k8s.io "" is invalid: …`. */
export function invalidOptions(kind: string, causes: readonly StatusCause[]) {
  const messages = causes.map(({ field, message }) => `${field}: ${message}`);
  const list = messages.length === 1 ? messages[0] : `[${messages.join(', ')}]`;
  return failure(422, `${kind}.meta.k8s.io "" is invalid: ${list}`, {
    details: { group: 'meta.k8s.io', kind, causes },
  });
}
