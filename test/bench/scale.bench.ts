/** `npm run bench -- scale`: a home with a thousand agents and ten thousand tasks. */
import type { Bench } from './harness/operation.ts';
import { fleet } from './scale/fleet.ts';

export const scaleBench: Bench = { name: 'scale', operations: [fleet] };
