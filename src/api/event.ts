/** What is special about selecting events: who their source is. Pure. */
import { isObject, type JsonObject } from '#lib/json.ts';
import type { KindObject } from './meta.ts';

interface Event extends KindObject {
  source?: unknown;
  reportingComponent?: unknown;
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
