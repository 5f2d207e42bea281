import { describe, expect, it } from 'vitest';
import type { Result } from './check.ts';
import { exitCodeOf, reportJson, reportLines, summary } from './report.ts';

const git: Result = { name: 'git', isNeeded: true, purpose: 'merges', state: 'ok', detail: '2.39.5' };
const bwrap: Result = {
  name: 'bubblewrap',
  isNeeded: false,
  purpose: 'sandboxes',
  state: 'missing',
  detail: 'no bwrap',
  fix: { install: 'bubblewrap' },
};
const plain = { manager: 'apt', hasColour: false } as const;

describe('reportLines', () => {
  it('says of each in one line what it is, what for, and what to do', () => {
    expect(reportLines([git, bwrap], plain)).toEqual([
      'ok        git         2.39.5',
      'missing   bubblewrap  no bwrap; needed for sandboxes. Fix: apt-get install bubblewrap',
    ]);
  });

  it('colours what is needed and not there differently', () => {
    const lines = reportLines([git, bwrap, { ...git, state: 'broken' }], { ...plain, hasColour: true });
    expect(lines.map((line) => line.slice(0, 5))).toEqual(['\u001b[32m', '\u001b[33m', '\u001b[31m']);
  });
});

describe('summary and exitCodeOf', () => {
  it.each([
    { name: 'all is there', results: [git], text: 'everything is there', code: 0 },
    {
      name: 'something optional is not',
      results: [git, bwrap],
      text: 'everything needed is there; not everything that can be used: bubblewrap',
      code: 0,
    },
    {
      name: 'something needed is not',
      results: [{ ...git, state: 'missing' as const }, bwrap],
      text: 'agentiso cannot run here: git',
      code: 1,
    },
    {
      name: 'something needed is not proven',
      results: [{ ...git, state: 'unproven' as const }],
      text: expect.stringContaining('git'),
      code: 0,
    },
  ])('$name', ({ results, text, code }) => {
    expect([summary(results), exitCodeOf(results)]).toEqual([text, code]);
  });
});

describe('reportJson', () => {
  it('has the same for programs', () => {
    expect(JSON.parse(reportJson([git, bwrap], 'apt'))).toEqual({
      ok: true,
      checks: [
        { name: 'git', state: 'ok', needed: true, purpose: 'merges', detail: '2.39.5' },
        {
          name: 'bubblewrap',
          state: 'missing',
          needed: false,
          purpose: 'sandboxes',
          detail: 'no bwrap',
          fix: 'apt-get install bubblewrap',
        },
      ],
    });
  });
});
