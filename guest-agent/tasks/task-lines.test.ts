import { expect, it } from 'vitest';
import { TaskLines } from './task-lines.ts';

it('shows what comes at a bearable speed, and says how much of the rest it left out', () => {
  const shown: string[] = [];
  let nowMs = 0;
  const log = {
    open: () => ({ write: (chunk: Uint8Array | string) => shown.push(String(chunk)), end: () => shown.push('|') }),
    write: (source: string, text: string) => shown.push(`${source}: ${text}`),
  };
  const lines = new TaskLines(log, 'task/t', () => nowMs);
  const large = Buffer.alloc(512 * 1024, 'x');
  lines.write(large);
  lines.write(Buffer.from('too much'));
  lines.write(large);
  expect(shown).toEqual([large.toString()]);
  nowMs += 1;
  lines.write(Buffer.from('a little'));
  expect(shown.slice(1)).toEqual(['|', `task/t: [${512 * 1024 + 8} bytes of output came too fast and are not shown]`, 'a little']);
  nowMs += 10;
  lines.write(large);
  lines.end();
  expect(shown.slice(4)).toEqual(['|', `task/t: [${512 * 1024} bytes of output came too fast and are not shown]`, '|']);
});
