/** `npm run bench -- tasks`: what tasks cost over the commands they run. */
import type { Bench } from './harness/operation.ts';
import { many, start } from './tasks/work.ts';

export const tasksBench: Bench = { name: 'tasks', operations: [start, many] };
