import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AgentisoError } from './errors.ts';
import { Numbers } from './numbers.ts';

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'agentiso-numbers-'));
  file = join(folder, 'state', 'numbers.json');
});

afterEach(() => rmSync(folder, { recursive: true }));

describe('numbers', () => {
  it('are the lowest free ones, teams from 1 and agents from 2, and stay with their uid', () => {
    const numbers = new Numbers(file);
    expect(['a', 'b', 'a'].map((uid) => numbers.numberOf('agents', uid))).toEqual([2, 3, 2]);
    expect(['t', 'u'].map((uid) => numbers.numberOf('teams', uid))).toEqual([1, 2]);
    numbers.release('agents', 'a');
    numbers.release('agents', 'a');
    expect(numbers.find('agents', 'a')).toBeUndefined();
    expect(numbers.numberOf('agents', 'c')).toBe(2);
    expect([...numbers.entries('agents')]).toEqual([
      ['b', 3],
      ['c', 2],
    ]);
  });

  it('are on disk before they are given out, and read by the next', () => {
    new Numbers(file).numberOf('agents', 'a');
    const again = new Numbers(file);
    expect([again.find('agents', 'a'), again.numberOf('agents', 'b')]).toEqual([2, 3]);
    again.release('agents', 'a');
    expect([...new Numbers(file).entries('agents')]).toEqual([['b', 3]]);
    expect(readdirSync(join(folder, 'state'))).toEqual(['numbers.json']);
  });

  it('are not given out when they cannot be written', () => {
    const numbers = new Numbers(file);
    numbers.numberOf('teams', 't');
    rmSync(join(folder, 'state'), { recursive: true });
    writeFileSync(join(folder, 'state'), 'in the way');
    expect(() => numbers.numberOf('teams', 'u')).toThrow();
    expect(numbers.find('teams', 'u')).toBeUndefined();
    rmSync(join(folder, 'state'));
    expect(numbers.numberOf('teams', 'u')).toBe(2);
    expect([...new Numbers(file).entries('teams')]).toEqual([
      ['t', 1],
      ['u', 2],
    ]);
  });

  it('run out after the last address', () => {
    const numbers = new Numbers(file);
    numbers.numberOf('agents', 'last');
    const all = Object.fromEntries(Array.from({ length: 65_533 }, (_, index) => [`a${index}`, index + 2]));
    writeFileSync(file, JSON.stringify({ version: 1, teams: {}, agents: all }));
    const full = new Numbers(file);
    expect(() => full.numberOf('agents', 'one more')).toThrow(
      expect.objectContaining({ reason: 'AddressesExhausted', message: 'all 65533 numbers of agents are taken; delete some of them' }),
    );
    full.release('agents', 'a65532');
    expect(full.numberOf('agents', 'one more')).toBe(65_534);
  });
});

describe('a damaged file', () => {
  const complaintOf = (text: string): AgentisoError => {
    new Numbers(file).numberOf('teams', 't');
    writeFileSync(file, text);
    try {
      new Numbers(file);
    } catch (error) {
      if (error instanceof AgentisoError) return error;
    }
    throw new Error('no complaint');
  };

  it.each([
    ['', 'JSON'],
    ['{"version":1,"teams":{', 'JSON'],
    ['[]', 'expected {"version":1'],
    ['{"version":2,"teams":{},"agents":{}}', 'expected {"version":1'],
    ['{"version":1,"teams":{}}', 'agents is no object'],
    ['{"version":1,"teams":{"t":0},"agents":{}}', 'teams.t is 0; expected a number from 1 to 65535'],
    ['{"version":1,"teams":{},"agents":{"a":2,"b":2}}', 'agents.b is 2; expected a number from 2 to 65534 that nobody else has'],
    ['{"version":1,"teams":{},"agents":{"a":"2"}}', 'agents.a is "2"'],
  ])('%s is an error that names it and is never overwritten', (text, what) => {
    const { message, reason, hint } = complaintOf(text);
    expect(message).toContain(file);
    expect(message).toContain(what);
    expect(reason).toBe('NumbersDamaged');
    expect(hint).toContain('restore it from a backup');
    expect(readFileSync(file, 'utf8')).toBe(text);
  });
});
