/** docs/benchmarks.md: one section per benchmark, each replaced by the latest full run of it. Pure but for `writeReport`. */
import { readFileSync, writeFileSync } from 'node:fs';
import type { Machine } from './machine.ts';
import type { Result } from './measure.ts';
import { renderMarkdown, toCells, toRemarks } from './table.ts';

const FILE = new URL('../../../docs/benchmarks.md', import.meta.url);
const INTRODUCTION = `# Benchmarks

Written by \`npm run bench -- NAME --write\`; do not edit. Ours and the reference run in one process tree and alternate in random order;
the ratio is taken per round, its interval is the bootstrap 95 % interval of the median. "pass" means that the whole interval meets the
goal, "fail" that none of it does, "undecided" anything else. Rounds are kept/run: disturbed ones (steal, CPU pressure) do not count.
`;

export interface Report {
  readonly bench: string;
  readonly date: Date;
  readonly seed: number;
  readonly machine: readonly Machine[];
  readonly results: readonly Result[];
}

export function writeReport(report: Report): void {
  writeFileSync(FILE, replaceSection(readExisting(), report.bench, renderSection(report)));
}

export function renderSection({ bench, date, seed, machine, results }: Report): string {
  const facts = machine.map(({ label, value }) => `${label} ${value}`).join(', ');
  return [
    `## ${bench}`,
    `${date.toISOString().slice(0, 10)}; ${facts}; seed ${seed}.`,
    renderMarkdown(toCells(results)).trimEnd(),
    toRemarks(results)
      .map((remark) => `- ${remark}`)
      .join('\n'),
  ].join('\n\n');
}

export function replaceSection(text: string, bench: string, section: string): string {
  const [head = '', ...sections] = (text === '' ? INTRODUCTION : text).trimEnd().split(/\n+(?=## )/);
  const others = sections.filter((other) => !other.startsWith(`## ${bench}\n`));
  return `${[head, ...[...others, section].sort()].join('\n\n')}\n`;
}

function readExisting(): string {
  try {
    return readFileSync(FILE, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}
