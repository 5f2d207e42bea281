/** `npm run bench -- messages`: durable messages between agents against a bare hub, Redis and a polled mailbox. */
import type { Bench } from './harness/operation.ts';
import { latency, rate } from './messages/latency.ts';

export const messagesBench: Bench = { name: 'messages', operations: [latency, rate] };
