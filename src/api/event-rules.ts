/** What an event may be, in Kubernetes' words. Pure. */
import type { FieldProblem } from '#lib/errors.ts';
import { equalJson, isObject, type JsonObject } from '#lib/json.ts';
import { qualifiedNameProblems } from './label-syntax.ts';
import { DEFAULT_NAMESPACE, type KindObject } from './meta.ts';
import { checkMetadata } from './object-meta.ts';

const MAX_TEXT = 128;
const MAX_NOTE = 1024;
const TYPES = ['Normal', 'Warning'];

export interface EventWrite {
  /** Undefined for a creation. */
  readonly old: KindObject | undefined;
  /** Asked for in the words of events.k8s.io: the older group lets more pass, because it always did. */
  readonly isNewer: boolean;
}

/** Of an event as it is stored, in the words of the core group. */
export function eventProblems(event: KindObject, { old, isNewer }: EventWrite): FieldProblem[] {
  const fields = event as unknown as JsonObject;
  const rules = isTimed(fields) ? timedProblems(event, fields, isNewer) : placeProblems(event, fields);
  if (old) return isNewer ? [...rules, ...changeProblems(fields, old as unknown as JsonObject)] : rules;
  return [...metadataProblems(event), ...rules, ...(isNewer ? newProblems(fields) : [])];
}

/** Events have a time of their own since they have a group of their own. */
function isTimed({ eventTime }: JsonObject): boolean {
  return typeof eventTime === 'string';
}

function metadataProblems({ metadata }: KindObject): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const { name, generateName } = metadata;
  // A name that is yet to be made is as good as its beginning.
  const named = name || !generateName ? metadata : { ...metadata, name: 'generated' };
  checkMetadata({ ...named }, { isNamespaced: true, names: 'subdomain' }, undefined, problems);
  return problems;
}

/** An event is where the object it is about is; of those without a namespace, where everything is by default. */
function placeProblems({ metadata: { namespace = '' } }: KindObject, { involvedObject }: JsonObject): FieldProblem[] {
  const other = namespaceOf(involvedObject);
  if (other === namespace || (other === '' && namespace === DEFAULT_NAMESPACE)) return [];
  return [invalid('involvedObject.namespace', other, 'does not match event.namespace')];
}

function namespaceOf(reference: unknown): string {
  return isObject(reference) ? textOf(reference, 'namespace') : '';
}

/** What the newer events have to say; they may be in another namespace than what they are about. */
function timedProblems({ metadata: { namespace = '' } }: KindObject, event: JsonObject, isNewer: boolean): FieldProblem[] {
  const controller = textOf(event, 'reportingComponent');
  const controllerField = isNewer ? 'reportingController' : 'reportingComponent';
  const isLost = namespaceOf(event['involvedObject']) === '' && namespace !== DEFAULT_NAMESPACE && namespace !== 'kube-system';
  return [
    ...(isLost ? [invalid('involvedObject.namespace', '', 'does not match event.namespace')] : []),
    ...(controller === '' ? [required(controllerField)] : []),
    ...qualifiedNameProblems(controller, 'a qualified name').map((text) => invalid(controllerField, controller, text)),
    ...['reportingInstance', 'action', 'reason'].flatMap((field) => wordProblems(event, field)),
    ...lengthProblems(event, 'message', MAX_NOTE),
  ];
}

function wordProblems(event: JsonObject, field: string): FieldProblem[] {
  return textOf(event, field) === '' ? [required(field)] : lengthProblems(event, field, MAX_TEXT);
}

function lengthProblems(event: JsonObject, field: string, limit: number): FieldProblem[] {
  return Buffer.byteLength(textOf(event, field)) > limit ? [invalid(field, '', `can have at most ${limit} characters`)] : [];
}

/** What the older events said in other fields. */
function newProblems(event: JsonObject): FieldProblem[] {
  const { type, source, count } = event;
  const isSourced = isObject(source) && Object.values(source).some((text) => text !== '');
  return [
    ...seriesProblems(event['series']),
    ...(isTimed(event) ? [] : [required('eventTime')]),
    ...(TYPES.includes(String(type)) ? [] : [invalid('type', '', `has invalid value: ${type ?? ''}`)]),
    ...['firstTimestamp', 'lastTimestamp'].filter((field) => typeof event[field] === 'string').map(unset),
    ...(count ? [unset('count')] : []),
    ...(isSourced ? [unset('source')] : []),
  ];
}

function unset(field: string): FieldProblem {
  return invalid(field, '', 'needs to be unset');
}

function seriesProblems(series: unknown): FieldProblem[] {
  if (!isObject(series)) return [];
  return [
    ...(Number(series['count'] ?? 0) < 2 ? [invalid('series.count', '', 'should be at least 2')] : []),
    ...(typeof series['lastObservedTime'] === 'string' ? [] : [required('series.lastObservedTime')]),
  ];
}

/** In the order in which Kubernetes looks at them. */
const FIXED: readonly (readonly [field: string, name?: string])[] = [
  ['involvedObject'],
  ['reason'],
  ['message'],
  ['source'],
  ['firstTimestamp'],
  ['lastTimestamp'],
  ['count'],
  ['type'],
  ['eventTime'],
  ['action'],
  ['related'],
  ['reportingComponent', 'reportingController'],
  ['reportingInstance'],
];

/** How often it happened is all that may change. */
function changeProblems(event: JsonObject, old: JsonObject): FieldProblem[] {
  const isSame = (field: string) => equalJson(meant(event[field]), meant(old[field]));
  return [
    ...(isSame('series') ? [] : seriesProblems(event['series'])),
    ...FIXED.filter(([field]) => !isSame(field)).map(([field, name = field]) => invalid(name, event[field] ?? '', 'field is immutable')),
  ];
}

/** Absent, null and empty are one to Go. */
function meant(value: unknown): unknown {
  if (isObject(value)) return Object.fromEntries(Object.entries(value).filter(([, member]) => meant(member) !== null));
  return value === undefined || value === '' || value === 0 ? null : value;
}

function textOf(object: JsonObject, field: string): string {
  const value = object[field];
  return typeof value === 'string' ? value : '';
}

function invalid(path: string, value: unknown, text: string): FieldProblem {
  return { path, segments: path.split('.'), kind: 'Invalid', message: `Invalid value: ${JSON.stringify(value)}: ${text}` };
}

function required(path: string): FieldProblem {
  return { path, segments: path.split('.'), kind: 'Required', message: 'Required value' };
}
