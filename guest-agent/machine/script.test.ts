import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { SET_UP_SCRIPT } from './script.ts';

describe('the set-up of a machine', () => {
  it('is a script that Perl can read', () => {
    const { status, stderr } = spawnSync('perl', ['-c', '-e', SET_UP_SCRIPT], { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '-e syntax OK\n' });
  });

  it('reseeds before it does anything else for somebody', () => {
    const [, told = ''] = SET_UP_SCRIPT.split('print "ready\n"');
    expect([...told.matchAll(/step '(\w+)'/g)].map(([, step]) => step)).toEqual(['randomness', 'clock', 'network', 'disk', 'tools']);
  });
});
