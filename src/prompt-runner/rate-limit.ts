/** Whether words of an agent mean that its provider wants no more for now, and until when. Pure. */

/** When nobody says until when. */
const USUAL_PAUSE_MS = 60_000;
/** Whatever is said: a week is the longest window that any provider has. */
const LONGEST_PAUSE_MS = 7 * 24 * 3_600_000;

const LIMITED =
  /(?:status|code|error|http)[^\d\n]{0,12}\b429\b|\b429\b[\s:,-]*(?:too many|rate|quota|resource)|rate[ _-]?limit|too many requests|quota (?:exceeded|exhausted)|exceeded your current quota|RESOURCE_EXHAUSTED|usage limit|overloaded_error/i;
const AT_TIME = /\b(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2}))/;
const EPOCH = /(?:reset|retry)[^\d\n]{0,40}\b(1[6-9]\d{8}|[2-9]\d{9})\b/i;
const IN_TIME =
  /(?:retry|reset|try again|wait)[^\d\n]{0,40}?(\d+(?:\.\d+)?) ?(ms|milliseconds?|s|sec|seconds?|m|min|minutes?|h|hours?|d|days?)?\b/i;

/** Undefined: they mean nothing of the kind. */
export function retryTime(words: string, now: Date): Date | undefined {
  if (!LIMITED.test(words)) return undefined;
  const untilMs = statedMs(words, now) ?? now.getTime() + USUAL_PAUSE_MS;
  return new Date(Math.min(Math.max(untilMs, now.getTime() + 1_000), now.getTime() + LONGEST_PAUSE_MS));
}

function statedMs(words: string, now: Date): number | undefined {
  const time = AT_TIME.exec(words)?.[1];
  if (time !== undefined && !Number.isNaN(Date.parse(time))) return Date.parse(time);
  const epoch = EPOCH.exec(words)?.[1];
  if (epoch !== undefined) return Number(epoch) * 1_000;
  const [, number, unit = 's'] = IN_TIME.exec(words) ?? [];
  return number === undefined ? undefined : now.getTime() + Number(number) * unitMs(unit.toLowerCase());
}

function unitMs(unit: string): number {
  if (unit.startsWith('ms') || unit.startsWith('milli')) return 1;
  if (unit.startsWith('s')) return 1_000;
  if (unit.startsWith('d')) return 86_400_000;
  return unit.startsWith('h') ? 3_600_000 : 60_000;
}
