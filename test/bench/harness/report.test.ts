import { describe, expect, it } from 'vitest';
import type { Result } from './measure.ts';
import { renderSection, replaceSection } from './report.ts';
import { formatNumber, renderTerminal, toCells } from './table.ts';
import { atMost } from './verdict.ts';

const results: readonly Result[] = [
  {
    id: 'update',
    about: 'one writer',
    verdict: 'pass',
    roundsRun: 20,
    roundsKept: 18,
    rows: [
      {
        comparison: { label: 'update, p50', unit: 'ms', ours: () => 0, reference: { name: 'etcd', value: () => 0 }, goal: atMost(0.7) },
        ours: 0.31,
        reference: 0.69,
        score: { median: 0.45, low: 0.4, high: 0.51 },
        verdict: 'pass',
      },
    ],
  },
  { id: 'broken', verdict: 'fail', roundsRun: 0, roundsKept: 0, rows: [], problem: { message: 'an event was lost', stack: 'at secret' } },
];

describe('report', () => {
  it('prints a table whose columns line up', () => {
    expect(
      renderTerminal(toCells(results))
        .split('\n')
        .map((line) => line.trimEnd()),
    ).toEqual([
      'operation    ours      reference      ratio (95 % interval)    goal     rounds  verdict',
      '-----------  --------  -------------  -----------------------  -------  ------  -------',
      'update, p50  0.310 ms  etcd 0.690 ms  0.450x (0.400 .. 0.510)  <= 0.7x  18/20   pass',
      'broken       -         -              -                        -        0/0     fail',
      '',
    ]);
  });

  it('writes date, machine, seed, table and problems', () => {
    const section = renderSection({
      bench: 'store',
      date: new Date('2026-01-05T23:00:00Z'),
      seed: 7,
      machine: [{ label: 'cores', value: '2' }],
      results,
    });
    expect(section).toContain('## store\n\n2026-01-05; cores 2; seed 7.\n\n| operation |');
    expect(section).toContain('| update, p50 | 0.310 ms | etcd 0.690 ms | 0.450x (0.400 .. 0.510) | <= 0.7x | 18/20 | pass |');
    expect(section).toContain('- update: one writer\n- broken: an event was lost');
    expect(section).not.toContain('secret');
  });

  it('replaces only its own section', () => {
    const first = replaceSection('', 'store', '## store\n\nold');
    const both = replaceSection(first, 'relay', '## relay\n\nother');
    const latest = replaceSection(both, 'store', '## store\n\nnew');
    expect(latest.startsWith('# Benchmarks\n')).toBe(true);
    expect(latest.endsWith('\n\n## relay\n\nother\n\n## store\n\nnew\n')).toBe(true);
  });

  it.each([
    [0.1234, '0.123'],
    [5, '5.00'],
    [33.33, '33.3'],
    [234.5, '235'],
    [17_700.4, '17,700'],
  ])('formats %d as %s', (value, want) => expect(formatNumber(value)).toBe(want));
});
