import { expect, it } from 'vitest';
import { judgeIsolation } from './isolation.ts';

const sandbox = { mode: 'root', reason: '', limits: 'cgroup2' } as const;
const network = { mode: 'nftables', reason: '' } as const;

it.each([
  [{ sandbox, network }, 'ok', 'sandboxes with a user id per team, network rules by nftables, limits by cgroup2'],
  [
    { sandbox: { ...sandbox, mode: 'rootless', limits: 'prlimit' } as const, network: { mode: 'proxy-only', reason: 'not root' } as const },
    'ok',
    'sandboxes with your own user id, no network but the proxy (not root), limits by prlimit',
  ],
  [
    { sandbox: { mode: 'unavailable', reason: 'bubblewrap is not installed: there is no bwrap', limits: 'none' } as const, network },
    'missing',
    'plain processes only, not isolated: bubblewrap is not installed: there is no bwrap',
  ],
])('says how agents would be isolated: %#', (here, state, detail) => {
  expect(judgeIsolation(here)).toMatchObject({ state, detail });
});
