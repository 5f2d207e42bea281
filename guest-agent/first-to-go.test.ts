import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { asFirstToGo } from './first-to-go.ts';

const OWN = '/proc/self/oom_score_adj';
const scoreOf = (shell: string) => execFileSync('sh', ['-c', shell], { encoding: 'utf8' }).trim();

describe('what is started as the first to go', () => {
  it('has a higher score than this process, with all it starts, and this process has its own back', () => {
    const own = readFileSync(OWN, 'utf8').trim();
    const wanted = String(Math.min(1_000, Number(own) + 500));
    expect(asFirstToGo(() => scoreOf(`cat ${OWN}; sh -c 'cat ${OWN}; true'`)).split('\n')).toEqual([wanted, wanted]);
    expect(readFileSync(OWN, 'utf8').trim()).toBe(own);
    expect(scoreOf(`cat ${OWN}; true`)).toBe(own);
  });

  it('leaves no mark when it cannot be started, and starts where no score can be set', () => {
    const own = readFileSync(OWN, 'utf8');
    expect(() =>
      asFirstToGo(() => {
        throw new Error('not this one');
      }),
    ).toThrow('not this one');
    expect(readFileSync(OWN, 'utf8')).toBe(own);
    expect(asFirstToGo(() => spawnSync('true').status, '/nowhere/at/all')).toBe(0);
  });
});
