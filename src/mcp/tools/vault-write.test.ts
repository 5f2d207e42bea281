/** Notes as an operator writes, finds and removes them: the files in the vault afterwards. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { QUOTED } from '#protocol/tool-surface.ts';
import { openWorkBench, type WorkBench } from '../work/work-bench.fixture.ts';

let here: WorkBench;
beforeEach(async () => {
  here = await openWorkBench();
});
afterEach(() => here.end());

const file = (path: string) => join(here.folder, 'vault', path);

it('writes, reads, finds, lists and removes', async () => {
  const { version } = await here.answer('vault_write', { path: 'guides/my style.md', content: '---\ntags: [law]\n---\n# Needle' });
  expect(readFileSync(file('guides/my style.md'), 'utf8')).toBe('---\ntags: [law]\n---\n# Needle');
  await here.answer('vault_write', { path: 'guides/my style.md', content: 'more', mode: 'append', if_version: version });
  const { answer, notes } = await here.call('vault_read', { path: 'guides/my style.md' });
  expect(answer).toMatchObject({ content: '---\ntags: [law]\n---\n# Needle\nmore', frontmatter: { tags: ['law'] } });
  expect(notes).toEqual([QUOTED]);
  expect(await here.answer('vault_search', { pattern: 'needle', tag: 'law' })).toMatchObject({
    hits: [{ path: 'guides/my style.md', line: 4, text: '# Needle' }],
    is_cut: false,
  });
  expect(await here.answer('vault_list', {})).toMatchObject({ entries: [{ path: 'guides/' }] });
  expect(await here.answer('vault_list', { recursive: true })).toMatchObject({ entries: [{ path: 'guides/my style.md' }] });
  expect(await here.answer('vault_delete', { path: 'guides/my style.md', confirm: true })).toEqual({
    path: 'guides/my style.md',
    deleted: true,
  });
  expect(existsSync(file('guides/my style.md'))).toBe(false);
});

it.each([
  { tool: 'vault_delete', input: { path: 'x.md', confirm: false }, code: 'Invalid', hint: '' },
  { tool: 'vault_delete', input: { path: 'x.md' }, code: 'Invalid', hint: 'confirm' },
  { tool: 'vault_write', input: { path: 'x.md', content: 'new', if_version: 'old' }, code: 'Conflict', hint: 'vault_read' },
  { tool: 'vault_write', input: { path: '../x.md', content: 'new' }, code: 'Forbidden', hint: 'inside' },
  { tool: 'vault_write', input: { path: 'x.md', content: 'new', mode: 'insert' }, code: 'Invalid', hint: '' },
  { tool: 'vault_read', input: { path: 'y.md' }, code: 'NotFound', hint: 'vault_list' },
  { tool: 'vault_search', input: { pattern: '(', is_regex: true }, code: 'Invalid', hint: '' },
])('$tool refuses $input and changes nothing', async ({ tool, input, code, hint }) => {
  await here.vault.write('everything', 'x.md', 'as it was');
  const { error } = await here.call(tool, input);
  expect(error).toMatchObject({ code, hint: expect.stringContaining(hint) });
  expect(readFileSync(file('x.md'), 'utf8')).toBe('as it was');
});

it('lets a viewer read and nothing else', async () => {
  await here.vault.write('everything', 'x.md', 'as it was');
  expect((await here.call('vault_read', { path: 'x.md' }, { role: 'viewer' })).answer).toMatchObject({ content: 'as it was' });
  const { error } = await here.call('vault_write', { path: 'x.md', content: 'new' }, { role: 'viewer' });
  expect(error).toMatchObject({ code: 'Forbidden' });
});
