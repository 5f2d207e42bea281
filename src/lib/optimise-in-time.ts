/**
 * When V8 makes the fastest code of a function. Left to itself it does so after some hundred calls. At the start of a daemon that is too soon: its
 * threads take a fifth of all processor time for functions most of which have done their work by then. Afterwards it is too late: what a
 * daemon does for a request is spread over hundreds of functions, none of which is called often, and all of them wait in slow code.
 */
import { setFlagsFromString } from 'node:v8';

interface Settings {
  readonly late: string;
  readonly soon: string;
}

/**
 * By V8's major version, those of Node 20 and 22: nine times what it waits by itself, and a third of it. A later one has a quick compiler in between
 * and is patient enough, and of a setting that it does not know V8 complains on stderr.
 */
const SETTINGS: Readonly<Record<string, Settings>> = {
  11: { late: '--interrupt-budget=600000', soon: '--interrupt-budget=20000' },
  12: { late: '--invocation-count-for-turbofan=27000', soon: '--invocation-count-for-turbofan=1000' },
};
/** The goal for a restart with a thousand agents. */
const START_MS = 3_000;

/** For the first lines of a program that has much to do at its start, and is asked much for a long time. */
export function optimiseInTime(startMs = START_MS): void {
  const settings = SETTINGS[process.versions.v8.split('.')[0] ?? ''];
  if (!settings) return;
  setFlagsFromString(settings.late);
  setTimeout(() => setFlagsFromString(settings.soon), startMs).unref();
}
