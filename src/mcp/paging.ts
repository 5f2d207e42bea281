/** A list in pages. A cursor names the last item of its page, so that what comes or goes in between shifts nothing. Pure. */
import { invalidParams } from './rpc-error.ts';

const PAGE = 100;

export interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor?: string;
}

export function pageOf<T>(all: readonly T[], keyOf: (item: T) => string, cursor: string | undefined, size = PAGE): Page<T> {
  const sorted = all.map((item) => ({ item, key: keyOf(item) })).sort((a, b) => (a.key < b.key ? -1 : 1));
  const after = cursor === undefined ? undefined : keyIn(cursor);
  const rest = after === undefined ? sorted : sorted.filter(({ key }) => key > after);
  const page = rest.slice(0, size);
  const last = rest.length > size ? page.at(-1) : undefined;
  return {
    items: page.map(({ item }) => item),
    ...(last && { nextCursor: Buffer.from(JSON.stringify([last.key])).toString('base64url') }),
  };
}

function keyIn(cursor: string): string {
  try {
    const [key] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[];
    if (typeof key === 'string') return key;
  } catch {
    // Said below.
  }
  throw invalidParams('the cursor is not one that was given out here');
}
