import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Settings } from './settings.ts';
import { parseSettings } from './settings-file.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'agentiso-settings-'));
});
afterEach(() => rmSync(home, { recursive: true }));
const write = (text: string) => writeFileSync(join(home, 'config.yaml'), text);

describe('a file of settings', () => {
  it.each([
    ['limits: {maxAgnets: 5}', 'unknown key limits.maxAgnets; did you mean maxAgents?'],
    ['limit: {}', 'unknown key limit; did you mean limits?'],
    ['zzz: 1', 'unknown key zzz; known are limits, rates'],
    ['limits: {maxAgents: 0}', 'limits.maxAgents is 0; it must be a whole number from 1 to 10000'],
    ['limits: {maxAgents: "5"}', 'limits.maxAgents is "5"; it must be a whole number from 1 to 10000'],
    ['limits: {maxNestingDepth: 11}', 'limits.maxNestingDepth is 11; it must be a whole number from 1 to 10'],
    [
      'limits: 5',
      'limits must be a map with maxAgents, maxAgentsPerTeam, maxNestingDepth, maxMemoryMiB, maxConcurrentForks, maxSavedMiB, maxCacheMiB',
    ],
    ['rates: {exec: {burst: 5}}', 'rates.exec needs both burst and perMinute'],
    ['rates: {exce: {}}', 'unknown key rates.exce; did you mean exec?'],
    ['- a', 'the file is no map; it begins with limits: or rates:'],
    ['limits: {', 'line 1: '],
  ])('%s is refused', (text, message) => {
    expect(() => parseSettings(text)).toThrow(message);
  });

  it('may be empty, or say a part', () => {
    expect(parseSettings('')).toEqual({ rates: {} });
    expect(parseSettings('# nothing\n')).toEqual({ rates: {} });
    expect(parseSettings('limits: {maxAgents: 7}\nrates: {exec: {burst: 1, perMinute: 2}}')).toEqual({
      maxAgents: 7,
      rates: { exec: { burst: 1, perMinute: 2 } },
    });
  });
});

describe('settings', () => {
  it('are the defaults without a file, and what the file says when it is read again', () => {
    const settings = new Settings(home);
    const { limits, rates } = settings;
    expect([limits.maxAgents, limits.maxAgentsPerTeam, rates.exec]).toEqual([100, 20, { burst: 10, perMinute: 60 }]);
    write('limits: {maxAgents: 7}\nrates: {exec: {burst: 1, perMinute: 2}}');
    settings.reload();
    expect([limits.maxAgents, limits.maxAgentsPerTeam, rates.exec]).toEqual([7, 20, { burst: 1, perMinute: 2 }]);
    write('limits: {maxAgents: many}');
    expect(() => settings.reload()).toThrow(`${join(home, 'config.yaml')}: limits.maxAgents is "many"`);
    expect(limits.maxAgents).toBe(7);
    expect({ ...limits }).toMatchObject({ maxAgents: 7 });
  });

  it('give way to what the daemon was started with', () => {
    write('limits: {maxAgents: 7, maxAgentsPerTeam: 3}');
    const { limits } = new Settings(home, { maxAgents: 9 });
    expect([limits.maxAgents, limits.maxAgentsPerTeam]).toEqual([9, 3]);
  });
});
