import { describe, expect, it } from 'vitest';
import { findTool, missingTools, requireRoot } from './tools.ts';

describe('missingTools', () => {
  it('says in one line what to install', () => {
    expect(missingTools(['mmdebstrap', 'e2fsprogs'])).toMatchObject({
      message: 'to make an image needs what is not installed: mmdebstrap, e2fsprogs',
      hint: 'apt-get install --no-install-recommends mmdebstrap e2fsprogs',
    });
  });

  it('does not tell to install anything where there is no Debian', () => {
    expect(missingTools(['apt', 'mmdebstrap']).hint).not.toContain('install');
  });
});

describe('requireRoot', () => {
  it('says what somebody else can do', () => {
    expect(() => requireRoot(1000)).toThrow('needs root');
    expect(() => requireRoot(0)).not.toThrow();
  });
});

describe('findTool', () => {
  it('looks where administrators have their tools, too', async () => {
    expect(await findTool('sh')).toMatch(/\/sh$/);
    expect(await findTool('agentiso-no-such-tool')).toBeUndefined();
  });
});
