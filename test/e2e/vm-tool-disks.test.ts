/** Disks of tools for machines, as real file systems; what a machine makes of them is in vm-driver.test.ts. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import { type ToolDisk, ToolDisks } from '#drivers/vm/tool-disks.ts';
import { silentLogger } from '#lib/log.ts';
import { temporaryFolder } from '../support/daemon.ts';
import { requires } from '../support/requirements.ts';

const hasTools = ['mke2fs', 'debugfs'].every((tool) => spawnSync(tool, ['-V'], { stdio: 'ignore' }).error === undefined);
const WAIT = { timeout: 60_000, interval: 20 };

requires(hasTools && process.getuid?.() === 0, 'disks of tools are made as root, with e2fsprogs')('a disk of tools', () => {
  const { folder, remove } = temporaryFolder();
  const [tools, directory] = [join(folder, 'tools'), join(folder, 'disks')];
  const disks = new ToolDisks({ directory, log: silentLogger });
  afterAll(remove);

  /** As npm's installations come: whole, by a rename. */
  function install(name: string, words: string): void {
    const draft = join(tools, '.draft');
    mkdirSync(join(draft, 'bin'), { recursive: true });
    writeFileSync(join(draft, 'bin', 'say'), words, { mode: 0o755 });
    rmSync(join(tools, name), { recursive: true, force: true });
    renameSync(draft, join(tools, name));
  }
  const made = (name: string): Promise<ToolDisk> => vi.waitFor(() => disks.find(tools, name), WAIT);
  const read = ({ path }: ToolDisk, file: string): string =>
    execFileSync('debugfs', ['-R', `cat ${file}`, path], { encoding: 'utf8', stdio: 'pipe' });

  it('is made once, while whoever asks is told to wait, and anew for another installation', async () => {
    install('one@1', 'first');
    await expect(disks.find(tools, 'one@1')).rejects.toMatchObject({ reason: 'ToolsUnderWay' });
    const first = await made('one@1');
    expect(first.gib).toBe(1);
    expect(read(first, '/one@1/bin/say')).toBe('first');
    expect(await disks.find(tools, 'one@1')).toEqual(first);
    expect(await new ToolDisks({ directory, log: silentLogger }).find(tools, 'one@1')).toEqual(first);
    install('one@1', 'second');
    const second = await made('one@1');
    expect(read(second, '/one@1/bin/say')).toBe('second');
    expect(readdirSync(directory).map((name) => join(directory, name))).toEqual([second.path]);
  });

  it('follows what people change in a folder of their own, and goes when its folder has gone', async () => {
    mkdirSync(join(tools, 'acp'));
    writeFileSync(join(tools, 'acp', 'agent.json'), '{}');
    const first = await made('acp');
    writeFileSync(join(tools, 'acp', 'agent.json'), '{"argv": []}');
    const second = await made('acp');
    expect(second.path).not.toBe(first.path);
    expect(read(second, '/acp/agent.json')).toBe('{"argv": []}');
    rmSync(join(tools, 'one@1'), { recursive: true });
    install('two@2', 'other');
    await made('two@2');
    expect(readdirSync(directory).map((name) => name.split('~')[0])).toEqual(['acp', 'two@2']);
  });

  it('says why it cannot be made, and is tried again', async () => {
    await expect(disks.find(tools, 'three@3')).rejects.toMatchObject({ code: 'ENOENT' });
    install('three@3', 'there now');
    expect(read(await made('three@3'), '/three@3/bin/say')).toBe('there now');
  });
});
