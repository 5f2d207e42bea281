import { describe, expect, it } from 'vitest';
import { checkEnv, inheritedEnv, teamEnv } from './command-env.ts';

describe('inheritedEnv', () => {
  it('takes five names and nothing else', () => {
    expect(inheritedEnv({ PATH: '/bin', HOME: '/root', TOKEN: 'secret', NODE_OPTIONS: '-r x' })).toEqual({ PATH: '/bin', HOME: '/root' });
  });
});

describe('teamEnv', () => {
  it.each([
    ['/opt/bin:/bin', '/opt/bin:/bin:/run/bin'],
    [undefined, '/usr/local/bin:/usr/bin:/bin:/run/bin'],
    ['', '/usr/local/bin:/usr/bin:/bin:/run/bin'],
  ])('puts the command at the end of PATH: %j', (path, PATH) => {
    expect(teamEnv({ path, binDir: '/run/bin', socket: '/run/agent.sock', node: '/usr/bin/node' })).toEqual({
      PATH,
      AGENTISO_SOCKET: '/run/agent.sock',
      AGENTISO_NODE: '/usr/bin/node',
    });
  });
});

describe('checkEnv', () => {
  it.each(['PATH', 'IFS', 'ENV', 'BASH_ENV', 'LD_PRELOAD', 'LD_', '', '1A', 'A B', 'A=B'])('refuses %j', (name) => {
    expect(() => checkEnv({ GOOD: '1', [name]: 'x' })).toThrowError(name === '' ? '""' : name);
  });

  it.each(['A', '_', 'MY_PATH', 'PATHS', 'XLD_PRELOAD', 'path'])('takes %j', (name) => {
    expect(() => checkEnv({ [name]: 'x' })).not.toThrow();
  });
});
