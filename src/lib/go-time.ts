/** Times as Kubernetes' programs read and write them. Pure. */

const TIME = /^(\d{4}-\d\d-(\d\d)T\d\d:\d\d:\d\d)(?:[.,](\d+))?(Z|[+-]\d\d:\d\d)$/i;
const MICROSECONDS = 6;

export function isGoTime(text: string): boolean {
  return read(text) !== undefined;
}

/** Go wants all six digits of it. */
export function isGoMicroTime(text: string): boolean {
  return read(text)?.fraction.length === MICROSECONDS;
}

/** To the second, in UTC; what is no time stays as it is. */
export function toGoTime(text: string): string {
  return read(text)?.seconds.concat('Z') ?? text;
}

/** The same to the microsecond. */
export function toGoMicroTime(text: string): string {
  const time = read(text);
  return time ? `${time.seconds}.${time.fraction.slice(0, MICROSECONDS).padEnd(MICROSECONDS, '0')}Z` : text;
}

interface Parts {
  /** `2006-01-02T15:04:05`, in UTC. */
  readonly seconds: string;
  readonly fraction: string;
}

function read(text: string): Parts | undefined {
  const [, seconds = '', day, fraction = '', zone = ''] = TIME.exec(text) ?? [];
  const time = new Date(`${seconds}${zone}`.toUpperCase());
  // JavaScript takes the 31st of a shorter month for a day of the next.
  const isADay = new Date(`${seconds}Z`.toUpperCase()).getUTCDate() === Number(day);
  return Number.isNaN(time.getTime()) || !isADay ? undefined : { seconds: time.toISOString().slice(0, 19), fraction };
}
