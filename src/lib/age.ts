/** How long ago something was, as Kubernetes prints it in tables: coarser the longer ago. */

const MINUTE_S = 60;
const HOUR_S = 60 * MINUTE_S;
const DAY_S = 24 * HOUR_S;
const YEAR_S = 365 * DAY_S;

/** Two machines' clocks may differ a little: up to two seconds in the future is now. */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / 1000);
  if (Number.isNaN(seconds) || seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 2 * MINUTE_S) return `${seconds}s`;
  if (seconds < 10 * MINUTE_S) return inUnits(seconds, [MINUTE_S, 'm'], [1, 's']);
  if (seconds < 3 * HOUR_S) return inUnits(seconds, [MINUTE_S, 'm']);
  if (seconds < 8 * HOUR_S) return inUnits(seconds, [HOUR_S, 'h'], [MINUTE_S, 'm']);
  if (seconds < 2 * DAY_S) return inUnits(seconds, [HOUR_S, 'h']);
  if (seconds < 8 * DAY_S) return inUnits(seconds, [DAY_S, 'd'], [HOUR_S, 'h']);
  if (seconds < 2 * YEAR_S) return inUnits(seconds, [DAY_S, 'd']);
  if (seconds < 8 * YEAR_S) return inUnits(seconds, [YEAR_S, 'y'], [DAY_S, 'd']);
  return inUnits(seconds, [YEAR_S, 'y']);
}

type Unit = readonly [seconds: number, letter: string];

function inUnits(seconds: number, [large, letter]: Unit, small?: Unit): string {
  const whole = `${Math.floor(seconds / large)}${letter}`;
  const rest = small ? Math.floor((seconds % large) / small[0]) : 0;
  return small && rest > 0 ? `${whole}${rest}${small[1]}` : whole;
}

/** What Go writes for a time that was never set. */
const UNSET = '0001-01-01T00:00:00Z';
const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

export function ageOf(timestamp: string | null | undefined, now: Date): string {
  if (!timestamp || timestamp === UNSET) return '<unknown>';
  return RFC_3339.test(timestamp) ? humanDuration(now.getTime() - Date.parse(timestamp)) : '<invalid>';
}
