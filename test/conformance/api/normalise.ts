/**
 * Makes transcripts of different servers and moments comparable: values a server makes up become placeholders, numbered in the
 * order they are first seen, so that it still shows which of them are equal.
 */
import type { Transcript } from './exchange.ts';

const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
/** Scenarios write only dates of 2020; those are kept. */
const time = /\b(?!2020-)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g;
const microTime = /\b(?!2020-)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z/g;
/** In messages and in documents that messages quote. */
const versionInText = /(resource ?version[^0-9]{1,24}|\bcurrent: )\d{2,}/gi;
const versionInConflict = /(the ResourceVersion in (?:the precondition|record) \()\d+/g;
const tooOld = /(too old resource version: )\d+ \(\d+\)/;
const age = /^(?:\d+[ydhms])+$/;

type JsonObject = Record<string, unknown>;

export function normalise(transcript: Transcript): Transcript {
  const names = new Placeholders();
  return Object.fromEntries(
    Object.entries(transcript).map(([step, answer]) => [step, walk(answer, { names, key: '' }) as (typeof transcript)[string]]),
  );
}

interface Place {
  readonly names: Placeholders;
  readonly key: string;
  /** What a resourceVersion here is the version of. */
  readonly versionOf?: 'rv' | 'list-rv' | 'bookmark-rv';
}

function walk(value: unknown, place: Place): unknown {
  if (typeof value === 'string') {
    return text(value, place);
  }
  if (Array.isArray(value)) {
    const items = place.key === 'managedFields' ? [...value].sort(byManager) : value;
    return items.map((item) => walk(item, place.key === 'cells' ? { ...place, key: 'cell' } : place));
  }
  if (isObject(value)) {
    return object(value, place);
  }
  return value;
}

function object(value: JsonObject, place: Place): JsonObject {
  const versionOf = versionKind(value, place);
  const sorted = Object.entries(sortedCauses(value)).sort(([a], [b]) => (a < b ? -1 : 1));
  if (value['name'] === 'Name' && value['format'] === 'name') {
    // A page of prose about names.
    return { ...value, description: '<text>' };
  }
  if (typeof value['generateName'] === 'string' && typeof value['name'] === 'string') {
    place.names.generated(value['generateName'], value['name']);
  }
  return Object.fromEntries(sorted.map(([key, item]) => [walk(key, { ...place, key: '' }), walk(item, { ...place, ...versionOf, key })]));
}

function versionKind(value: JsonObject, place: Place): Pick<Place, 'versionOf'> {
  if (value['type'] === 'BOOKMARK') {
    return { versionOf: 'bookmark-rv' };
  }
  const kind = value['kind'];
  if (typeof kind !== 'string' || place.versionOf === 'bookmark-rv') {
    return {};
  }
  return { versionOf: kind === 'Table' || kind.endsWith('List') ? 'list-rv' : 'rv' };
}

function text(value: string, { names, key, versionOf }: Place): string {
  if (key === 'resourceVersion' && /^[1-9]\d*$/.test(value)) {
    return versionOf === 'bookmark-rv' ? '<bookmark-rv>' : names.of(versionOf ?? 'rv', value);
  }
  if (key === 'continue' && value !== '') {
    return names.of('continue', value);
  }
  if (key === 'etag') {
    return value.replace(/[^"]+/, '<etag>');
  }
  if (key === 'cell' && age.test(value)) {
    return '<age>';
  }
  return names
    .ungenerate(value)
    .replace(uuid, (found) => names.of('uid', found))
    .replace(microTime, '<microtime>')
    .replace(time, '<time>')
    .replace(/hash=[0-9A-Za-z%]+/, 'hash=<hash>')
    .replace(versionInConflict, '$1<rv>')
    .replace(tooOld, '$1<rv> (<rv>)')
    .replace(versionInText, '$1<rv>');
}

/** The real server finds the causes of one refusal in no certain order. */
function sortedCauses(value: JsonObject): JsonObject {
  const details = value['details'];
  const message = value['message'];
  if (!isObject(details) || !Array.isArray(details['causes']) || typeof message !== 'string') {
    return value;
  }
  const line = (cause: unknown) => (isObject(cause) ? `${String(cause['field'])}: ${String(cause['message'])}` : '');
  const causes = [...details['causes']].sort((a, b) => (line(a) < line(b) ? -1 : 1));
  const listed = `[${details['causes'].map(line).join(', ')}]`;
  return { ...value, message: message.replace(listed, () => `[${causes.map(line).join(', ')}]`), details: { ...details, causes } };
}

/** By name, not by time: whether two writes fall into the same second is chance. */
function byManager(a: unknown, b: unknown): number {
  const identity = (entry: unknown) =>
    isObject(entry) ? [entry['operation'], entry['manager'], entry['apiVersion'], entry['subresource']].join('\n') : '';
  return identity(a) < identity(b) ? -1 : 1;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

class Placeholders {
  readonly #seen = new Map<string, Map<string, string>>();
  readonly #generated = new Map<string, string>();

  of(kind: string, value: string): string {
    const known = this.#seen.get(kind) ?? new Map<string, string>();
    this.#seen.set(kind, known);
    const placeholder = known.get(value) ?? `<${kind}-${known.size + 1}>`;
    known.set(value, placeholder);
    return placeholder;
  }

  generated(prefix: string, name: string): void {
    // The server cuts a long prefix.
    const kept = prefix.slice(0, 58);
    if (name.startsWith(kept) && name.length === kept.length + 5) {
      this.#generated.set(name, `${kept}<random>`);
    }
  }

  ungenerate(value: string): string {
    return [...this.#generated].reduce((all, [name, placeholder]) => all.replaceAll(name, placeholder), value);
  }
}
