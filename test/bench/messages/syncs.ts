/** The least that durability costs: one append and one fdatasync. */
import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { median } from '../harness/stats.ts';
import { stampedText } from './end.ts';

/** Median milliseconds. */
export function timeSyncs(dir: string, count: number): number {
  const fd = openSync(join(dir, 'syncs'), 'a');
  try {
    const took: number[] = [];
    for (let index = 0; index < count; index += 1) {
      const line = `${stampedText(index)}\n`;
      const startedMs = performance.now();
      writeSync(fd, line);
      fdatasyncSync(fd);
      took.push(performance.now() - startedMs);
    }
    return median(took);
  } finally {
    closeSync(fd);
  }
}
