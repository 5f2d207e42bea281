/** The mailbox of files that many tools use: written durably, and looked at twice a second. */
import { closeSync, fsyncSync, mkdirSync, openSync, readdirSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../harness/random.ts';
import { median } from '../harness/stats.ts';
import { ageMs, stampedText } from './end.ts';

const POLL_MS = 500;

export interface PolledMailbox {
  /** Of messages that are sent at random moments. */
  medianAgeMs(count: number, random: Random): Promise<number>;
  close(): Promise<void>;
}

export function openPolledMailbox(dir: string): PolledMailbox {
  const folder = join(dir, 'polled');
  mkdirSync(folder, { recursive: true });
  let ages: number[] = [];
  const timer = setInterval(() => {
    for (const name of readdirSync(folder).filter((file) => file.endsWith('.msg'))) {
      ages.push(ageMs(readFileSync(join(folder, name), 'utf8')));
      rmSync(join(folder, name));
    }
  }, POLL_MS);
  return {
    async medianAgeMs(count, random) {
      ages = [];
      for (let index = 0; index < count; index += 1) {
        await delay(random() * POLL_MS);
        putDurably(folder, index);
      }
      while (ages.length < count) await delay(POLL_MS / 10);
      return median(ages);
    },
    async close() {
      clearInterval(timer);
    },
  };
}

function putDurably(folder: string, index: number): void {
  const [fresh, path] = [join(folder, `${index}.new`), join(folder, `${index}.msg`)];
  const fd = openSync(fresh, 'w');
  writeSync(fd, stampedText(index));
  fsyncSync(fd);
  closeSync(fd);
  renameSync(fresh, path);
}
