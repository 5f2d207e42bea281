/** What is special about events: where they may be, and who their source is. Pure. */
import type { FieldProblem } from '#lib/errors.ts';
import { isObject, type JsonObject } from '#lib/json.ts';
import { DEFAULT_NAMESPACE, type KindObject } from './meta.ts';
import { checkMetadata } from './object-meta.ts';

interface Event extends KindObject {
  involvedObject?: unknown;
  source?: unknown;
  reportingComponent?: unknown;
}

/** Of an event that is to be created. */
export function eventProblems(event: KindObject): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const { name, generateName } = event.metadata;
  // A name that is yet to be made is as good as its beginning.
  const metadata = name || !generateName ? event.metadata : { ...event.metadata, name: 'generated' };
  checkMetadata({ ...metadata }, { isNamespaced: true, names: 'subdomain' }, undefined, problems);
  return [...problems, ...placeProblems(event)];
}

/** An event is where the object it is about is; of those without a namespace, where everything is by default. */
function placeProblems(event: KindObject): FieldProblem[] {
  const { involvedObject } = event as Event;
  const namespace = isObject(involvedObject) ? (involvedObject['namespace'] ?? '') : '';
  if (namespace === (event.metadata.namespace ?? '') || (namespace === '' && event.metadata.namespace === DEFAULT_NAMESPACE)) return [];
  const segments = ['involvedObject', 'namespace'];
  const message = `Invalid value: ${JSON.stringify(namespace)}: does not match event.namespace`;
  return [{ path: segments.join('.'), segments, kind: 'Invalid', message }];
}

/** The field `source` of selectors; new events only say who reported them. */
export function eventSource(event: KindObject): string | undefined {
  const { source, reportingComponent } = event as Event;
  return textIn(isObject(source) ? source : {}, 'component') ?? textIn({ reportingComponent }, 'reportingComponent');
}

function textIn(object: JsonObject, key: string): string | undefined {
  const value = object[key];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
