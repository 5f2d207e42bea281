import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Session } from '../api-command.ts';
import { showDifference } from './external-diff.ts';

const compared = [
  { name: 'same', live: 'a\n', merged: 'a\n' },
  { name: 'changed', live: 'a\n', merged: 'b\n' },
];

function sessionWith(externalDiff: string | undefined) {
  const said = { out: '', err: '' };
  const write = (stream: 'out' | 'err') => (text: string) => {
    said[stream] += text;
  };
  const environment = { cwd: '.', userHome: '.', externalDiff };
  const session = { out: write('out'), err: write('err'), signal: new AbortController().signal, environment } as unknown as Session;
  return { session, said };
}

describe('showDifference', () => {
  it('shows only what differs, and says whether anything does', async () => {
    const { session, said } = sessionWith(undefined);
    expect(await showDifference(compared, session)).toBe(true);
    expect(said.out).toBe('--- LIVE/changed\n+++ MERGED/changed\n@@ -1 +1 @@\n-a\n+b\n');
    expect(await showDifference(compared.slice(0, 1), session)).toBe(false);
  });

  it('gives two folders to the program of the person, and leaves none behind', async () => {
    const { session, said } = sessionWith(`${process.execPath} -e console.log(process.argv.slice(1).join());process.exit(1)`);
    expect(await showDifference(compared, session)).toBe(true);
    const [live = '', merged = ''] = said.out.trim().split(',');
    expect([live.endsWith('/LIVE'), merged.endsWith('/MERGED'), existsSync(dirname(live))]).toEqual([true, true, false]);
  });

  it.each([
    { program: `${process.execPath} -e process.exit(3)`, want: 'ended with 3' },
    { program: '/no/such/program', want: '/no/such/program could not be run' },
  ])('complains about $program', async ({ program, want }) => {
    await expect(showDifference(compared, sessionWith(program).session)).rejects.toThrow(want);
  });
});
