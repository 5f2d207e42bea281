import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
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
  it('are the lowest free ones, teams from 1 and agents from 2, and stay with their uid', async () => {
    const numbers = new Numbers(file);
    expect(['a', 'b', 'a'].map((uid) => numbers.numberOf('agents', uid))).toEqual([2, 3, 2]);
    expect(['t', 'u'].map((uid) => numbers.numberOf('teams', uid))).toEqual([1, 2]);
    await numbers.release('agents', 'a');
    await numbers.release('agents', 'a');
    expect(numbers.find('agents', 'a')).toBeUndefined();
    expect(numbers.numberOf('agents', 'c')).toBe(2);
    expect([...numbers.entries('agents')]).toEqual([
      ['b', 3],
      ['c', 2],
    ]);
  });

  it("are in a file that is nobody's but the daemon's", async () => {
    const numbers = new Numbers(file);
    numbers.numberOf('agents', 'a');
    const modes = [statSync(file).mode];
    await numbers.release('agents', 'a');
    expect([...modes, statSync(file).mode].map((mode) => (mode & 0o777).toString(8))).toEqual(['600', '600']);
  });

  it('are on disk before they are given out, and read by the next', async () => {
    new Numbers(file).numberOf('agents', 'a');
    const again = new Numbers(file);
    expect([again.find('agents', 'a'), again.numberOf('agents', 'b')]).toEqual([2, 3]);
    await again.release('agents', 'a');
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

  it('run out after the last address', async () => {
    const numbers = new Numbers(file);
    numbers.numberOf('agents', 'last');
    const all = Object.fromEntries(Array.from({ length: 65_533 }, (_, index) => [`a${index}`, index + 2]));
    writeFileSync(file, JSON.stringify({ version: 1, teams: {}, agents: all }));
    const full = new Numbers(file);
    expect(() => full.numberOf('agents', 'one more')).toThrow(
      expect.objectContaining({ reason: 'AddressesExhausted', message: 'all 65533 numbers of agents are taken; delete some of them' }),
    );
    await full.release('agents', 'a65532');
    expect(full.numberOf('agents', 'one more')).toBe(65_534);
  });
});

describe('numbers that many ask for at once', () => {
  const asFile = () => JSON.parse(readFileSync(file, 'utf8')) as { agents: Record<string, number> };

  it('are written together, each on disk before it is given out', async () => {
    const numbers = new Numbers(file);
    const writes: number[] = [];
    const given = await Promise.all(
      Array.from({ length: 200 }, async (_, index) => {
        const number = await numbers.ensure('agents', `a${index}`);
        const onDisk = asFile().agents;
        expect(onDisk[`a${index}`]).toBe(number);
        writes.push(Object.keys(onDisk).length);
        return number;
      }),
    );
    expect(given).toEqual(Array.from({ length: 200 }, (_, index) => index + 2));
    // The first is on its way when the others come: they are all in the second write.
    expect(new Set(writes).size).toBeLessThanOrEqual(2);
    expect(readdirSync(join(folder, 'state'))).toEqual(['numbers.json']);
  });

  it('differ also from those of somebody who does not wait, and no write puts an older table in place of a newer one', async () => {
    const numbers = new Numbers(file);
    const waiting = [numbers.ensure('agents', 'a'), numbers.ensure('teams', 't'), numbers.ensure('agents', 'b')];
    expect([numbers.numberOf('agents', 'c'), numbers.numberOf('agents', 'b')]).toEqual([4, 3]);
    expect(asFile().agents).toEqual({ a: 2, b: 3, c: 4 });
    expect(await Promise.all(waiting)).toEqual([2, 1, 3]);
    await numbers.ensure('agents', 'd');
    expect([...new Numbers(file).entries('agents')]).toEqual([...numbers.entries('agents')]);
    expect(asFile().agents).toEqual({ a: 2, b: 3, c: 4, d: 5 });
  });

  it('are not given out when they cannot be written, and can be asked for again', async () => {
    const numbers = new Numbers(file);
    await numbers.ensure('agents', 'a');
    rmSync(join(folder, 'state'), { recursive: true });
    writeFileSync(join(folder, 'state'), 'in the way');
    const refused = await Promise.allSettled([numbers.ensure('agents', 'b'), numbers.ensure('agents', 'c')]);
    expect(refused.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(numbers.find('agents', 'b')).toBeUndefined();
    rmSync(join(folder, 'state'));
    expect(await numbers.ensure('agents', 'c')).toBe(3);
    expect(asFile().agents).toEqual({ a: 2, c: 3 });
  });

  it('that are released while others are written are free in the file too', async () => {
    const numbers = new Numbers(file);
    await numbers.ensure('agents', 'a');
    await Promise.all([numbers.ensure('agents', 'b'), numbers.release('agents', 'a'), numbers.ensure('agents', 'c')]);
    expect(asFile().agents).toEqual({ b: 3, c: 2 });
    expect(Object.fromEntries(new Numbers(file).entries('agents'))).toEqual({ b: 3, c: 2 });
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
