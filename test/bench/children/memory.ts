/** Child: resident memory of a process that holds the objects in our store, in a bare Map, or not at all. */
import { createReadStream, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { answer, childArgs } from '../harness/child.ts';
import type { BenchTask } from '../objects.ts';
import { loadSubject } from '../subject.ts';
import type { IndexLine } from './prepare.ts';

const COLLECTIONS = 5;

export interface MemoryArgs {
  readonly contestant: 'ours' | 'map' | 'empty';
  readonly dir: string;
  readonly indexFile: string;
  readonly count: number;
  readonly subjectModule?: string;
}

interface Holder {
  count(): number;
}

const { contestant, dir, indexFile, count, subjectModule } = childArgs<MemoryArgs>();
const holder = await hold();
for (let turn = 0; turn < COLLECTIONS; turn += 1) {
  globalThis.gc?.();
  await delay(50);
}
const value = residentMiB();
answer({ value, count: holder.count() }); // asked after measuring: the objects must be alive until then
process.exit(0);

async function hold(): Promise<Holder> {
  switch (contestant) {
    case 'ours':
      return (await loadSubject(subjectModule))(dir);
    case 'map':
      return holdMap();
    case 'empty':
      return { count: () => count };
  }
}

/** Line by line, so that no large text is left over in the memory we measure. */
async function holdMap(): Promise<Holder> {
  const objects = new Map<string, BenchTask>();
  for await (const line of createInterface({ input: createReadStream(indexFile) })) {
    const { object } = JSON.parse(line) as IndexLine;
    objects.set(`${object.metadata.namespace}/${object.metadata.name}`, object);
  }
  return { count: () => objects.size };
}

function residentMiB(): number {
  const kib = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
  return Number(kib) / 1_024;
}
