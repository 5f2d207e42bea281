/** The clauses of an Accept header in the order in which Kubernetes tries them. */

export interface Clause {
  readonly type: string;
  readonly subtype: string;
  readonly quality: number;
  readonly parameters: ReadonlyMap<string, string>;
}

/** No client sends as many; the order below costs the square of it. */
const MAX_CLAUSES = 64;
const NONE: ReadonlyMap<string, string> = new Map();

export function parseAccept(header: string): readonly Clause[] {
  const clauses: Clause[] = [];
  for (const part of header.split(',', MAX_CLAUSES)) {
    const clause = parseClause(part);
    if (clause) insert(clauses, clause);
  }
  return clauses;
}

/**
 * By quality, and what is named before what is a wildcard. The second wins over the first only between neighbours, which is no order
 * at all: the result is what Go's sorting of short lists makes of it, so the insertion has to go the same way.
 */
function insert(clauses: Clause[], clause: Clause): void {
  let at = clauses.length;
  for (; at > 0; at--) {
    const before = clauses[at - 1];
    if (!before || !isBefore(clause, before)) break;
  }
  clauses.splice(at, 0, clause);
}

function isBefore(a: Clause, b: Clause): boolean {
  return a.quality > b.quality || (a.type !== '*' && b.type === '*') || (a.subtype !== '*' && b.subtype === '*');
}

function parseClause(part: string): Clause | undefined {
  const [range = '', ...rest] = part.split(';');
  const [type = '', subtype, ...more] = range.split('/').map((word) => word.trim());
  if (more.length > 0 || (!subtype && type !== '*')) return undefined;
  return { type, subtype: subtype || '*', ...parseParameters(rest) };
}

function parseParameters(texts: readonly string[]): Pick<Clause, 'quality' | 'parameters'> {
  if (texts.length === 0) return { quality: 1, parameters: NONE };
  let quality = 1;
  const parameters = new Map<string, string>();
  for (const text of texts) {
    const [name = '', value = '', ...more] = text.split('=').map((word) => word.trim());
    if (value === '' || more.length > 0) continue;
    if (name === 'q') quality = Number(value) || 0;
    else parameters.set(name, value);
  }
  return { quality, parameters };
}
