/** Kubernetes' events as every server gives them, and the order in which they happened. */
import type { ApiObject } from './resource-api.ts';

export const EVENTS = { group: '', version: 'v1', plural: 'events', isNamespaced: true } as const;

export interface EventObject extends ApiObject {
  readonly type?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly count?: number;
  readonly firstTimestamp?: string | null;
  readonly lastTimestamp?: string | null;
  readonly eventTime?: string | null;
  readonly series?: { readonly count?: number; readonly lastObservedTime?: string } | null;
  readonly source?: { readonly component?: string };
  readonly reportingComponent?: string;
  readonly involvedObject?: { readonly kind?: string; readonly name?: string };
}

export function sortEvents(events: readonly EventObject[]): readonly EventObject[] {
  return [...events].sort((a, b) => Date.parse(lastTime(a)) - Date.parse(lastTime(b)));
}

function lastTime({ series, lastTimestamp, eventTime, firstTimestamp, metadata }: EventObject): string {
  return series?.lastObservedTime || lastTimestamp || eventTime || firstTimestamp || metadata.creationTimestamp || '';
}
