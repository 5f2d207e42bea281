import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { mkdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { count } from '#protocol/shape.ts';
import { Journal } from './journal.ts';

let directory: string;
let path: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'agentiso-journal-'));
  path = join(directory, 'numbers.log');
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

interface Opened {
  readonly journal: Journal<number>;
  readonly numbers: number[];
  readonly warnings: string[];
}

/** Its state is the list of its records, of which only the last `kept` matter. */
function open({ kept = Number.POSITIVE_INFINITY, minCompactBytes = 1_000_000 } = {}): Opened {
  const numbers: number[] = [];
  const warnings: string[] = [];
  const journal = new Journal<number>({
    path,
    parse: (value) => count(value, 'record'),
    apply: (number) => {
      numbers.push(number);
      if (numbers.length > kept) numbers.shift();
    },
    snapshot: () => numbers,
    warn: (text) => warnings.push(text),
    minCompactBytes,
  });
  return { journal, numbers, warnings };
}

const upTo = (end: number) => Array.from({ length: end }, (_, index) => index + 1);

describe('Journal', () => {
  it('gives back after a restart what was appended, in order', async () => {
    const first = open();
    await Promise.all(upTo(50).map((number) => first.journal.append(number)));
    await first.journal.close();
    expect(open().numbers).toEqual(upTo(50));
  });

  it('applies a note at once, writes it with the next record or at the end, and waits for nothing', async () => {
    const first = open();
    await first.journal.append(1);
    first.journal.note(2);
    expect([first.numbers, open().numbers]).toEqual([[1, 2], [1]]);
    await first.journal.append(3);
    expect(open().numbers).toEqual([1, 2, 3]);
    first.journal.note(4, 5);
    await first.journal.close();
    expect(open().numbers).toEqual([1, 2, 3, 4, 5]);
  });

  it('loses nothing but the torn record, wherever the file was cut', async () => {
    const first = open();
    await first.journal.append(1, 22, 333, 4444);
    await first.journal.close();
    const whole = readFileSync(path);
    for (let bytes = 0; bytes <= whole.length; bytes += 1) {
      writeFileSync(path, whole);
      truncateSync(path, bytes);
      const lines = whole.toString('utf8', 0, bytes).split('\n').slice(0, -1).map(Number);
      const { journal, numbers, warnings } = open();
      expect(numbers).toEqual(lines);
      await journal.append(7);
      await journal.close();
      expect(open().numbers).toEqual([...lines, 7]);
      expect(warnings).toEqual([]);
    }
  });

  it('keeps room behind its records while it is open, over a crash too, and none when it is closed', async () => {
    const first = open();
    await first.journal.append(1);
    const { size } = await stat(path);
    await first.journal.append(2);
    expect((await stat(path)).size).toBe(size);
    const second = open();
    expect(second.numbers).toEqual([1, 2]);
    await second.journal.append(3);
    expect((await stat(path)).size).toBe(size);
    await second.journal.close();
    expect(readFileSync(path, 'utf8')).toBe('1\n2\n3\n');
  });

  it('goes on behind what a torn write of several records left', async () => {
    const first = open();
    await first.journal.append(1, 22, 333, 4444);
    const file = readFileSync(path);
    for (const [torn, left] of [
      ['22', [1]],
      ['333', [1, 22]],
      ['4444', [1, 22, 333]],
    ] as const) {
      const image = Buffer.from(file);
      image.fill('"', image.indexOf(torn), image.indexOf(torn) + 1);
      writeFileSync(path, image);
      const { journal, numbers, warnings } = open();
      expect(numbers).toEqual(left);
      await journal.append(7, 8);
      await journal.close();
      expect(open().numbers).toEqual([...left, 7, 8]);
      expect(warnings).toEqual([]);
    }
  });

  it('lets records that are not urgent share the write of the next one, and writes them by itself when there is none', async () => {
    const { journal, numbers } = open();
    await journal.append(1);
    const patient = journal.appendWithin(60_000, 2);
    await journal.append(3);
    await patient;
    expect(readFileSync(path, 'utf8').trimEnd()).toBe('1\n2\n 3');
    await journal.appendWithin(1, 4);
    expect(numbers).toEqual([1, 2, 3, 4]);
    const last = journal.appendWithin(60_000, 5);
    await journal.close();
    await last;
    expect(open().numbers).toEqual([1, 2, 3, 4, 5]);
  });

  it('passes over a line that somebody spoiled, and says so', async () => {
    writeFileSync(path, '1\nspoiled\n"text"\n4\n');
    const { numbers, warnings } = open();
    expect(numbers).toEqual([1, 4]);
    expect(warnings).toEqual([expect.stringContaining('line 2'), expect.stringContaining('line 3')]);
  });

  it('does not begin anew in silence where a folder is in its place, and names it', async () => {
    await mkdir(path);
    expect(() => open()).toThrow(`${path} is a folder; move it away`);
  });

  it('stays small when what it says is no longer needed', async () => {
    const first = open({ kept: 10, minCompactBytes: 500 });
    for (const number of upTo(1000)) await first.journal.append(number);
    await first.journal.close();
    expect((await stat(path)).size).toBeLessThan(1000);
    expect(open({ kept: 10 }).numbers).toEqual(upTo(1000).slice(-10));
  });

  it('applies nothing that it could not write, and goes on when it can again', async () => {
    const { journal, numbers } = open();
    await journal.append(1);
    await journal.close();
    await rm(directory, { recursive: true });
    await expect(journal.append(2)).rejects.toThrow('ENOENT');
    expect(numbers).toEqual([1]);
    await mkdir(directory);
    await journal.append(3);
    await journal.close();
    expect(numbers).toEqual([1, 3]);
    expect(open().numbers).toEqual([1, 3]);
  });
});
