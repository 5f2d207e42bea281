/**
 * When V8 makes the fastest code of a function. Left to itself it does so after some hundred calls, and at the start of a daemon its threads take
 * a fifth of all processor time for functions most of which have done their work by then. What stays in use is optimised all the same, later.
 */
import { setFlagsFromString } from 'node:v8';

/**
 * Nine times what V8 waits by itself, and what that is, by its major version: those of Node 20 and 22. A later one has a quick compiler in
 * between and is patient enough, and of a setting that it does not know V8 complains on stderr.
 */
const SETTINGS: Readonly<Record<string, { readonly late: string; readonly usual: string }>> = {
  11: { late: '--interrupt-budget=600000', usual: '--interrupt-budget=67584' },
  12: { late: '--invocation-count-for-turbofan=27000', usual: '--invocation-count-for-turbofan=3000' },
};
/** A start takes a few seconds; whoever asks much of the daemon afterwards wants the fastest code soon. */
const START_MS = 10_000;

/** For the first lines of a program that has much to do at its start. */
export function optimiseLate(forMs = START_MS): void {
  const settings = SETTINGS[process.versions.v8.split('.')[0] ?? ''];
  if (!settings) return;
  setFlagsFromString(settings.late);
  setTimeout(() => setFlagsFromString(settings.usual), forMs).unref();
}
