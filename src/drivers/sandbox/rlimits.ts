/** Limits of single processes, for machines without control groups. They bound a run-away, not the memory of a whole sandbox. */
import { readFileSync } from 'node:fs';
import type { Resources } from '../driver.ts';

/** Counted over all processes of the uid, so there must be room for the whole team. */
const MAX_PROCESSES = 4_096;
const MAX_FILES = 4_096;
const GIB = 1024 ** 3;

/** Pure: hard limits by the names that /proc/self/limits gives them. */
export function parseHardLimits(text: string): Map<string, number> {
  const limits = new Map<string, number>();
  for (const line of text.split('\n').slice(1)) {
    const [, name, hard] = /^(.{26})\S+\s+(\S+)/.exec(line) ?? [];
    if (name !== undefined && hard !== undefined) limits.set(name.trim(), hard === 'unlimited' ? Number.POSITIVE_INFINITY : Number(hard));
  }
  return limits;
}

/** Pure. Limits can be lowered by anybody and raised by few. */
export function limitCommand({ diskGiB }: Resources, hardLimits: ReadonlyMap<string, number>): string[] {
  const at = (name: string, wanted: number) => Math.min(wanted, hardLimits.get(name) ?? wanted);
  return [
    'prlimit',
    '--core=0',
    `--nproc=${at('Max processes', MAX_PROCESSES)}`,
    `--nofile=${at('Max open files', MAX_FILES)}`,
    `--fsize=${at('Max file size', diskGiB * GIB)}`,
    '--',
  ];
}

export function readHardLimits(): Map<string, number> {
  return parseHardLimits(readFileSync('/proc/self/limits', 'utf8'));
}
