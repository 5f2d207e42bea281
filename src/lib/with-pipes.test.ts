import { expect, it } from 'vitest';
import { startScript } from '../../test/support/script.ts';

it('survives that no descriptor is left to start a program, and starts the next', async () => {
  const script = startScript('no-descriptors.ts', [], ['/bin/sh', '-c', 'ulimit -n 128; exec "$@"', 'sh']);
  const { code, stderr } = await script.ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const full = 'too many open files';
  expect(JSON.parse(script.lines[0] ?? '')).toEqual({
    without: { network: `/bin/true failed: ${full}`, image: `/bin/true failed: ${full}`, session: `nft -i failed: ${full}` },
    again: { network: 'done', image: 'done', session: expect.stringContaining('it ended with 0') },
  });
}, 30_000);
