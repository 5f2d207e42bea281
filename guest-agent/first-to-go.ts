/**
 * What an agent runs goes first when memory is short: the guest stays, to tell of it. A process hands its own score on to what it starts, so that
 * the guest has it for a moment, and nothing that a command starts can be faster. To raise it takes no rights, nor to lower it to what it was.
 */
import { readFileSync, writeFileSync } from 'node:fs';

const SCORE = '/proc/self/oom_score_adj';
/** Half of the limit on top of what a process uses: more than any guest needs. */
const MORE = 500;
const MOST = 1_000;

/** Runs `start` so that the process it starts is ended before this one. Where the score cannot be set, all are equal, as without this. */
export function asFirstToGo<T>(start: () => T, path = SCORE): T {
  const own = readScore(path);
  if (own === undefined || !writeScore(path, Math.min(MOST, own + MORE))) return start();
  try {
    return start();
  } finally {
    writeScore(path, own);
  }
}

function readScore(path: string): number | undefined {
  try {
    const score = Number.parseInt(readFileSync(path, 'latin1'), 10);
    return Number.isNaN(score) ? undefined : score;
  } catch {
    return undefined;
  }
}

function writeScore(path: string, score: number): boolean {
  try {
    writeFileSync(path, String(score));
    return true;
  } catch {
    return false;
  }
}
