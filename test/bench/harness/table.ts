/** Results as rows of text, shared by the terminal and docs/benchmarks.md. Pure. */
import type { Result, Row } from './measure.ts';
import type { Noise } from './noise.ts';
import type { Goal } from './verdict.ts';

const HEADERS = ['operation', 'ours', 'reference', 'ratio (95 % interval)', 'goal', 'rounds', 'verdict'] as const;
const BOUND_SIGNS: Readonly<Record<Goal['bound'], string>> = { 'at most': '<=', 'at least': '>=' };

export function toCells(results: readonly Result[]): string[][] {
  return [[...HEADERS], ...results.flatMap(resultCells)];
}

/** Columns padded to line up. */
export function renderTerminal(cells: readonly (readonly string[])[]): string {
  const widths = HEADERS.map((_, column) => Math.max(...cells.map((row) => (row[column] ?? '').length)));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  const [header = [], ...rows] = cells;
  return [line(header), widths.map((width) => '-'.repeat(width)).join('  '), ...rows.map(line), ''].join('\n');
}

export function renderMarkdown(cells: readonly (readonly string[])[]): string {
  const line = (row: readonly string[]): string => `| ${row.join(' | ')} |`;
  const [header = [], ...rows] = cells;
  return [line(header), line(header.map(() => '---')), ...rows.map(line), ''].join('\n');
}

/** Per operation: what it is about, what else the machine did, and what went wrong. */
export function toRemarks(results: readonly Result[]): string[] {
  return results.flatMap(({ id, about, noise, problem }) => [
    ...(about === undefined ? [] : [`${id}: ${about}`]),
    ...(noise === undefined ? [] : [`${id}: ${noiseText(noise)}`]),
    ...(problem === undefined ? [] : [`${id}: ${problem.message}`]),
  ]);
}

function noiseText({ cpuSome, ioSome, steal }: Noise): string {
  const percent = (share: number | undefined): string => (share === undefined ? 'unknown' : `${(share * 100).toFixed(1)} %`);
  return `cpu pressure ${percent(cpuSome)}, io pressure ${percent(ioSome)}, steal ${percent(steal)} (medians of the rounds, our own load included)`;
}

export function formatNumber(value: number): string {
  const size = Math.abs(value);
  if (size >= 1_000) return Math.round(value).toLocaleString('en-US');
  if (size >= 100) return value.toFixed(0);
  if (size >= 10) return value.toFixed(1);
  return value.toFixed(size >= 1 ? 2 : 3);
}

function resultCells(result: Result): string[][] {
  const rounds = `${result.roundsKept}/${result.roundsRun}`;
  if (result.rows.length === 0) return [[result.id, '-', '-', '-', '-', rounds, result.verdict]];
  return result.rows.map((row) => rowCells(row, rounds));
}

function rowCells({ comparison, ours, reference, score, verdict }: Row, rounds: string): string[] {
  const { unit, goal } = comparison;
  const scoreUnit = comparison.reference ? 'x' : ` ${unit}`;
  return [
    comparison.label,
    `${formatNumber(ours)} ${unit}`,
    reference === undefined ? '-' : `${comparison.reference?.name} ${formatNumber(reference)} ${unit}`,
    `${formatNumber(score.median)}${scoreUnit} (${formatNumber(score.low)} .. ${formatNumber(score.high)})`,
    goal ? `${BOUND_SIGNS[goal.bound]} ${goal.value}${scoreUnit}` : '-',
    rounds,
    verdict ?? 'information',
  ];
}
