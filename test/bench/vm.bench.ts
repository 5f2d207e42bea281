/** `npm run bench -- vm`: what a virtual machine costs to start and to keep, against QEMU by hand. */
import type { Bench } from './harness/operation.ts';
import { idle } from './vm/idle.ts';
import { start } from './vm/start.ts';

export const vmBench: Bench = { name: 'vm', operations: [start, idle] };
