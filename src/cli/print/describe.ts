/** One object for people: kubectl's layout for any kind, conditions as a table, what it owns, and its events. */
import type { EventObject } from '#client/events.ts';
import type { ApiObject } from '#client/resource-api.ts';
import { escapeControl } from '#lib/escape.ts';
import { isObject, type JsonObject } from '#lib/json.ts';
import { byCodePoint } from '#lib/to-yaml.ts';
import { alignText, DESCRIBE_STYLE } from './align.ts';
import { conditionLines, isConditions } from './conditions.ts';
import { eventLines } from './events.ts';
import { smartLabel } from './label.ts';
import { ownedLines } from './owned.ts';

export interface Described {
  readonly object: ApiObject;
  /** Undefined: the server has none to give. */
  readonly events?: readonly EventObject[] | undefined;
  readonly owned?: readonly ApiObject[];
  /** Sections of its own, line by line. */
  readonly more?: readonly string[];
  readonly now: Date;
}

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
const HIDDEN = ['name', 'namespace', 'labels', 'annotations', 'managedFields'];
const MAX_ANNOTATION = 140;

export function describeObject({ object, events, owned = [], more = [], now }: Described): string {
  const { metadata, ...rest } = object;
  const shown = Object.fromEntries(Object.entries(metadata).filter(([key]) => !HIDDEN.includes(key)));
  const lines = [
    `Name:\t${metadata.name}`,
    `Namespace:\t${metadata.namespace ?? ''}`,
    ...multiline(
      'Labels',
      Object.entries(metadata.labels ?? {}).map(([key, value]) => `${key}=${value}`),
    ),
    ...multiline('Annotations', annotationLines(metadata.annotations ?? {})),
    ...fieldLines({ ...rest, metadata: shown }, { level: 0, now }),
    ...(owned.length > 0 ? ownedLines(owned, now) : []),
    ...more,
    ...(events ? eventLines(events, now) : []),
  ];
  return alignText(`${lines.map(escapeControl).join('\n')}\n`, DESCRIBE_STYLE);
}

function multiline(title: string, values: readonly string[]): string[] {
  const [first = '<none>', ...others] = values;
  return [`${title}:\t${first}`, ...others.map((value) => `\t${value}`)];
}

function annotationLines(annotations: Readonly<Record<string, string>>): string[] {
  const keys = Object.keys(annotations)
    .filter((key) => key !== LAST_APPLIED)
    .sort(byCodePoint);
  return keys.flatMap((key) => {
    const value = (annotations[key] ?? '').replace(/\n$/, '');
    if (value.length + key.length + 2 <= MAX_ANNOTATION && !value.includes('\n')) return [`${key}: ${value}`];
    return [`${key}:`, ...value.split('\n').map((line) => `  ${shorten(line)}`)];
  });
}

function shorten(line: string): string {
  return line.length > MAX_ANNOTATION - 2 ? `${line.slice(0, MAX_ANNOTATION - 5)}...` : line;
}

interface Place {
  readonly level: number;
  readonly now: Date;
}

function fieldLines(content: JsonObject, place: Place): string[] {
  return Object.keys(content)
    .sort(byCodePoint)
    .flatMap((key) => memberLines(key, content[key], place));
}

function memberLines(key: string, value: unknown, { level, now }: Place): string[] {
  const indent = '  '.repeat(level);
  const title = `${indent}${smartLabel(key)}:`;
  if (isConditions(key, value)) return [title, ...conditionLines(value, { indent: `${indent}  `, now })];
  if (isObject(value)) return [title, ...fieldLines(value, { level: level + 1, now })];
  if (Array.isArray(value)) return [title, ...value.flatMap((item) => itemLines(item, { level: level + 1, now }))];
  return valueLines(title, value, indent);
}

function itemLines(item: unknown, place: Place): string[] {
  if (isObject(item)) return fieldLines(item, place);
  const indent = '  '.repeat(place.level);
  return plain(item)
    .split('\n')
    .map((line) => `${indent}${line}`);
}

/** Text of several lines stays in its column. */
function valueLines(title: string, value: unknown, indent: string): string[] {
  const [first = '', ...others] = plain(value).replace(/\n$/, '').split('\n');
  return [`${title}\t${first}`, ...others.map((line) => `${indent}\t${line}`)];
}

function plain(value: unknown): string {
  if (value === null || value === undefined) return '<nil>';
  return (typeof value === 'string' ? value : JSON.stringify(value)).replaceAll('\t', '    ');
}
