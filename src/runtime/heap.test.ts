import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';

/** Keeps a hundred MiB in use, makes much garbage beside it that lives for a while, and says how large the heap became. */
const PROGRAM = `
const kept = Array.from({ length: 400_000 }, (_, index) => ({ index, text: 'x' + index, more: [index, index] }));
let recent = [];
let largest = 0;
for (let round = 0; round < 30; round += 1) {
  recent = recent.slice(-3).concat([Array.from({ length: 60_000 }, (_, index) => ({ round, text: 'y' + index, list: [index] }))]);
  largest = Math.max(largest, process.memoryUsage().heapTotal);
}
process.stdout.write(String(Math.round(largest / 2 ** 20)) + ' ' + kept.length);
`;

function largestHeap(first: string): number {
  const [mib] = execFileSync(process.execPath, ['--import', import.meta.resolve('tsx'), '--input-type=module', '-e', first + PROGRAM], {
    encoding: 'utf8',
  }).split(' ');
  return Number(mib);
}

it('keeps the heap of a process that is told so smaller than it would be', { timeout: 600_000 }, () => {
  const small = `import { keepHeapSmall } from ${JSON.stringify(new URL('heap.ts', import.meta.url).href)}; keepHeapSmall();`;
  expect(largestHeap(small)).toBeLessThan(largestHeap(''));
});
