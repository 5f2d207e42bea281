import { describe, expect, it } from 'vitest';
import { versionInfo } from './version.ts';

describe('versionInfo', () => {
  it.each([34, 35, 36])('is near enough to kubectl 1.%i for it not to warn', (minor) => {
    const [, server] = /^v1\.(\d+)\.0\+agentiso\.[\w.-]+$/.exec(versionInfo().gitVersion) ?? [];
    expect(Math.abs(Number(server) - minor)).toBeLessThanOrEqual(1);
    expect(versionInfo().minor).toBe(server);
  });

  it('has every word that clients insist on', () => {
    const words = ['buildDate', 'compiler', 'gitCommit', 'gitTreeState', 'gitVersion', 'goVersion', 'major', 'minor', 'platform'];
    expect(Object.keys(versionInfo()).sort()).toEqual(words);
  });
});
