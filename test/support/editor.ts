/**
 * A second process that edits files as people and their tools do. Arguments: a JSON plan. Each edit reads the file as it is then,
 * adds one label, and saves it by rename, in place, or in place in two halves.
 */
import { closeSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { seededRandom } from '../bench/harness/random.ts';

export type Saving = 'rename' | 'in-place' | 'halves';

export interface EditPlan {
  readonly files: readonly string[];
  /** How many edits each file gets; label `e0`, `e1`, … */
  readonly edits: number;
  readonly ways: readonly Saving[];
  /** The longest pause between two edits of one file. */
  readonly pauseMs: number;
  readonly seed: number;
}

/** The text with one more label. */
export function withLabel(text: string, label: string): string {
  const line = `    ${label}: "yes"\n`;
  return text.includes('\n  labels:\n')
    ? text.replace('\n  labels:\n', `\n  labels:\n${line}`)
    : text.replace('\nmetadata:\n', `\nmetadata:\n  labels:\n${line}`);
}

async function save(path: string, text: string, way: Saving, gapMs: number): Promise<void> {
  if (way === 'rename') {
    const beside = join(dirname(path), `.${basename(path)}.saving`);
    writeFileSync(beside, text);
    renameSync(beside, path);
    return;
  }
  if (way === 'in-place') {
    writeFileSync(path, text);
    return;
  }
  const fd = openSync(path, 'w');
  writeSync(fd, text.slice(0, text.length / 2));
  await pause(gapMs);
  writeSync(fd, text.slice(text.length / 2));
  closeSync(fd);
}

async function editFile(path: string, plan: EditPlan, number: number): Promise<void> {
  const random = seededRandom(plan.seed + number);
  for (let edit = 0; edit < plan.edits; edit++) {
    const way = plan.ways[Math.floor(random() * plan.ways.length)] ?? 'rename';
    await save(path, withLabel(readFileSync(path, 'utf8'), `e${edit}`), way, random() * 40);
    if (plan.pauseMs > 0) await pause(random() * plan.pauseMs);
  }
}

const [argument] = process.argv.slice(2);
if (argument !== undefined && process.argv[1] === import.meta.filename) {
  const plan = JSON.parse(readFileSync(argument, 'utf8')) as EditPlan;
  if (plan.pauseMs > 0) await Promise.all(plan.files.map((path, number) => editFile(path, plan, number)));
  else for (const [number, path] of plan.files.entries()) await editFile(path, plan, number);
  process.stdout.write('done\n');
}
