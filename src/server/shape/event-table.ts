/** The columns of `kubectl get events`, which no printer column could describe. */
import { ageOf } from '#lib/age.ts';
import { isObject, type JsonObject } from '#lib/json.ts';
import { type ColumnDefinition, NAME_HEADER, nameOf, type TableFormat } from './columns.ts';
import { EVENTS_API_VERSION, textAt, toCoreEvent } from './events.ts';
import type { WithMetadata } from './partial.ts';

const WIDE = 1;

function header(name: string, description: string, priority = 0): ColumnDefinition {
  return { name, type: 'string', format: '', description, priority };
}

/** For Events of either API. */
export const eventTableFormat: TableFormat = {
  headers: [
    header('Last Seen', 'The time at which the most recent occurrence of this event was recorded.'),
    header('Type', 'Type of this event (Normal, Warning), new types could be added in the future'),
    header(
      'Reason',
      "This should be a short, machine understandable string that gives the reason for the transition into the object's current status.",
    ),
    header('Object', 'The object that this event is about.'),
    header(
      'Subobject',
      'If referring to a piece of an object instead of an entire object, this string should contain a valid JSON/Go field access statement, such as desiredState.manifest.containers[2]. For example, if the object reference is to a container within a pod, this would take on a value like: "spec.containers{name}" (where "name" refers to the name of the container that triggered the event) or if no container name is specified "spec.containers[2]" (container with index 2 in this pod). This syntax is chosen only to have some well-defined way of referencing a part of an object.',
      WIDE,
    ),
    header('Source', 'The component reporting this event. Should be a short machine understandable string.', WIDE),
    header('Message', 'A human-readable description of the status of this operation.'),
    header('First Seen', 'The time at which the event was first recorded. (Time of server receipt is in TypeMeta.)', WIDE),
    header('Count', 'The number of times this event has occurred.', WIDE),
    { ...NAME_HEADER, priority: WIDE },
  ],
  cellsOf: (object, now) => cellsOf(isEventsV1(object) ? toCoreEvent(object) : object, now),
};

function isEventsV1(object: WithMetadata): boolean {
  return 'apiVersion' in object && object.apiVersion === EVENTS_API_VERSION;
}

function cellsOf(event: WithMetadata, now: Date): unknown[] {
  const fields: JsonObject = { ...event };
  const series = isObject(fields['series']) ? fields['series'] : undefined;
  const first = textAt(fields, ['firstTimestamp']) || textAt(fields, ['eventTime']);
  const last = series ? textAt(series, ['lastObservedTime']) : textAt(fields, ['lastTimestamp']) || first;
  return [
    ageOf(last, now),
    textAt(fields, ['type']),
    textAt(fields, ['reason']),
    targetOf(fields),
    textAt(fields, ['involvedObject', 'fieldPath']),
    sourceOf(fields),
    textAt(fields, ['message']).trim(),
    ageOf(first, now),
    countOf(fields, series),
    nameOf(event),
  ];
}

function targetOf(fields: JsonObject): string {
  const kind = textAt(fields, ['involvedObject', 'kind']).toLowerCase();
  const name = textAt(fields, ['involvedObject', 'name']);
  return name === '' ? kind : `${kind}/${name}`;
}

function sourceOf(fields: JsonObject): string {
  const component = textAt(fields, ['source', 'component']) || textAt(fields, ['reportingComponent']);
  const instance = textAt(fields, ['source', 'host']) || textAt(fields, ['reportingInstance']);
  return instance === '' ? component : `${component}, ${instance}`;
}

/** An event that happened once need not say so. */
function countOf(fields: JsonObject, series: JsonObject | undefined): number {
  if (series) return typeof series['count'] === 'number' ? series['count'] : 0;
  return typeof fields['count'] === 'number' && fields['count'] !== 0 ? fields['count'] : 1;
}
