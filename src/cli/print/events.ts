/** Events as lines of describe and of `agentiso events`: oldest first, repeated ones once with their count. */
import { type EventObject, sortEvents } from '#client/events.ts';
import { ageOf } from '#lib/age.ts';
import { toCell } from '#lib/escape.ts';

export function eventLines(events: readonly EventObject[], now: Date): string[] {
  if (events.length === 0) return ['Events:\t<none>'];
  const rows = sortEvents(events).map((event) => {
    const from = event.source?.component || event.reportingComponent;
    return [event.type, event.reason, lastSeen(event, now), from, event.message?.trim()].map(toCell).join('\t');
  });
  return ['Events:', ...['Type\tReason\tAge\tFrom\tMessage', '----\t------\t----\t----\t-------', ...rows].map((line) => `  ${line}`)];
}

/** `5m`, or `5m (x3 over 1h)`. */
export function lastSeen(event: EventObject, now: Date): string {
  const first = ageOf(event.eventTime || event.firstTimestamp, now);
  if (event.series) return `${ageOf(event.series.lastObservedTime, now)} (x${event.series.count} over ${first})`;
  return (event.count ?? 0) > 1 ? `${ageOf(event.lastTimestamp, now)} (x${event.count} over ${first})` : first;
}
