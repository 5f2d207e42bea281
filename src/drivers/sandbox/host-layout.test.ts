import { describe, expect, it } from 'vitest';
import { nodeProgram, readHostLayout } from './host-layout.ts';

describe('nodeProgram', () => {
  it.each([
    ['in /usr', '/usr/bin/node', true, { path: '/usr/bin/node' }],
    [
      'unpacked into a folder of its own',
      '/home/me/.nvm/v20/bin/node',
      true,
      { bound: { source: '/home/me/.nvm/v20', target: '/opt/node' }, path: '/opt/node/bin/node' },
    ],
    [
      'among other things',
      '/home/me/bin/node',
      false,
      { bound: { source: '/home/me/bin/node', target: '/opt/node/bin/node' }, path: '/opt/node/bin/node' },
    ],
    ['not in a bin', '/srv/node', true, { bound: { source: '/srv/node', target: '/opt/node/bin/node' }, path: '/opt/node/bin/node' }],
  ])('%s', (_, execPath, isDistribution, expected) => {
    expect(nodeProgram(execPath, () => isDistribution)).toEqual(expected);
  });
});

describe('readHostLayout', () => {
  it('shows the system and nothing that is secret', () => {
    const { directories, etc } = readHostLayout();
    expect(directories).toContain('/usr');
    for (const path of ['/etc', '/etc/shadow', '/etc/passwd', '/etc/ssh', '/root', '/home', '/var'])
      expect([...directories, ...etc]).not.toContain(path);
  });
});
