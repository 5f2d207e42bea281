/** Label and field selectors as Kubernetes writes them: parsed once, matched often. */
import { InvalidError } from '#lib/errors.ts';
import { isObject } from '#lib/json.ts';
import { eventSource } from './event.ts';
import type { KindObject } from './meta.ts';

export interface Requirement {
  readonly key: string;
  readonly operator: 'in' | 'notin' | 'exists' | 'absent' | 'gt' | 'lt';
  readonly values: readonly string[];
}

export type Selector = readonly Requirement[];

/** `metadata.name=a,status.phase!=Failed`; only fields the kind declares. */
export function parseFieldSelector(text: string, fields: readonly string[]): Selector {
  return (text.match(/(?:\\.|\\$|[^,\\])+/g) ?? []).map((part) => {
    const [, key, operator, value = ''] = /^\s*([^=!\s]*)\s*(!=|==|=)(.*)$/s.exec(part) ?? [];
    if (key === undefined) throw invalidSelector(`invalid selector: '${text}'; can't understand '${part}'`);
    if (!fields.includes(key)) throw invalidSelector(unsupported(key, fields), `supported: ${fields.join(', ')}`);
    return { key, operator: operator === '!=' ? 'notin' : 'in', values: [unescaped(value)] };
  });
}

const ALWAYS: readonly string[] = ['metadata.name', 'metadata.namespace'];

/** Kubernetes has other words where a kind declares no fields of its own. */
function unsupported(key: string, fields: readonly string[]): string {
  const isDeclared = fields.some((field) => !ALWAYS.includes(field));
  return isDeclared
    ? `field label not supported: ${key}`
    : `${JSON.stringify(key)} is not a known field selector: only "${ALWAYS.join('", "')}"`;
}

function unescaped(value: string): string {
  return value.replace(/\\(.?)|=/gs, (found, character: string | undefined) => {
    if (character === undefined) throw invalidSelector(`invalid field selector: unescaped character in value: ${found}`);
    if (!['\\', ',', '='].includes(character)) throw invalidSelector(`invalid field selector: invalid escape sequence: ${found}`);
    return character;
  });
}

export function invalidSelector(message: string, hint?: string): InvalidError {
  return new InvalidError(message, [], { reason: 'BadRequest', ...(hint ? { hint } : {}) });
}

export interface Labelled {
  readonly metadata: { readonly labels?: Readonly<Record<string, string>> };
}

export function matchesLabels(selector: Selector, object: Labelled): boolean {
  return selector.every((requirement) => matches(requirement, labelValue(object, requirement.key)));
}

export function matchesFields(selector: Selector, object: KindObject): boolean {
  return selector.every((requirement) => matches(requirement, fieldValue(object, requirement.key) ?? ''));
}

/** Only labels the object really has: `constructor` is a label like any other. */
export function labelValue({ metadata: { labels } }: Labelled, key: string): string | undefined {
  return labels && Object.hasOwn(labels, key) ? labels[key] : undefined;
}

/** A field as selectors see it: text, or undefined when it is absent. */
export function fieldValue(object: KindObject, path: string): string | undefined {
  if (path === 'source') return eventSource(object);
  let at: unknown = object;
  for (const segment of segmentsOf(path)) at = isObject(at) ? at[segment] : undefined;
  return at === undefined || at === null || typeof at === 'object' ? undefined : String(at);
}

/** Only fields that kinds declare come here: there are few. */
const segments = new Map<string, readonly string[]>();

function segmentsOf(path: string): readonly string[] {
  const known = segments.get(path) ?? path.split('.');
  segments.set(path, known);
  return known;
}

function matches({ operator, values }: Requirement, value: string | undefined): boolean {
  switch (operator) {
    case 'in':
      return isAmong(value, values);
    case 'notin':
      return !isAmong(value, values);
    case 'exists':
      return value !== undefined;
    case 'absent':
      return value === undefined;
    case 'gt':
      return asInteger(value) > Number(values[0]);
    case 'lt':
      return asInteger(value) < Number(values[0]);
  }
}

function isAmong(value: string | undefined, values: readonly string[]): boolean {
  return value !== undefined && values.includes(value);
}

/** NaN, which is neither more nor less than anything, for what is not an integer. */
function asInteger(value: string | undefined): number {
  return value !== undefined && /^-?\d+$/.test(value) ? Number(value) : Number.NaN;
}
