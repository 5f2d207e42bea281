/** `npm run bench -- api`: the daemon's API and the command line against bare node:http, joined strings, etcd and bare node. */
import { cli } from './api/cli.ts';
import { fanOut } from './api/fan-out.ts';
import { get } from './api/get.ts';
import { list } from './api/list.ts';
import { put } from './api/put.ts';
import { putThroughput } from './api/put-throughput.ts';
import type { Bench } from './harness/operation.ts';

export const apiBench: Bench = { name: 'api', operations: [get, list, put, putThroughput, fanOut, cli] };
