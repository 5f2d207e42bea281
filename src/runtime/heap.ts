/**
 * How far the memory of this process may grow before it is tidied up. Left to itself V8 lets what is in use grow to three or four times
 * its size, because memory is cheaper than time; a daemon that shares its machine with a thousand agents sees it the other way round.
 */
import { setFlagsFromString } from 'node:v8';

/**
 * Of what was in use after the last time. Tidying up a large home slows everything down for a quarter of a second, so it may not come too
 * often either: with a thousand agents and ten thousand tasks this is once in forty seconds of the hardest work.
 */
const GROWTH_PERCENT = 80;

/** For the first lines of a program that lives long. */
export function keepHeapSmall(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}
