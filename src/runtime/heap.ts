/**
 * How far the memory of this process may grow before it is tidied up. Left to itself V8 lets what is in use grow to three or four times
 * its size, because memory is cheaper than time; a daemon that shares its machine with a thousand agents sees it the other way round.
 */
import { setFlagsFromString } from 'node:v8';

/** Of what was in use after the last time. */
const GROWTH_PERCENT = 40;

/** For the first lines of a program that lives long. */
export function keepHeapSmall(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}
