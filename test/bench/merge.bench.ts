/** `npm run bench -- merge`: landing branches, and finding those that do not fit together, against plain git. */
import type { Bench } from './harness/operation.ts';
import { landing } from './merge/landing.ts';
import { radar } from './merge/radar.ts';

export const mergeBench: Bench = { name: 'merge', operations: [landing, radar] };
