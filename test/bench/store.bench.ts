/** `npm run bench -- store`: the store against etcd, the disk, and the least that files and memory can cost. */
import type { Bench } from './harness/operation.ts';
import { coldStart } from './store/cold-start.ts';
import { durableUpdate } from './store/durable-update.ts';
import { handEdit } from './store/hand-edit.ts';
import { memory } from './store/memory.ts';
import { throughput } from './store/throughput.ts';
import { watch } from './store/watch.ts';

export const storeBench: Bench = { name: 'store', operations: [durableUpdate, throughput, watch, coldStart, handEdit, memory] };
