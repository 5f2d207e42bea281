import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '#lib/log.ts';
import type { VmSupport } from './support.ts';
import { type TemplateKind, Templates, templateKey } from './templates.ts';

const IMAGE = { hash: 'hash', kernel: '/kernel', initrd: '/initrd', root: '/' };
const KIND: TemplateKind = {
  ...{ image: IMAGE, board: 'microvm', accel: 'tcg', vcpus: 1, memoryMiB: 256, diskGiB: 1 },
  hasNetwork: true,
};
const version = 'QEMU 7';
let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'agentiso-templates-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

describe('a template', () => {
  it('is of another kind when anything is different that a copy would notice', () => {
    const others = [{ memoryMiB: 512 }, { diskGiB: 2 }, { vcpus: 2 }, { board: 'q35' as const }, { image: { ...IMAGE, initrd: '/other' } }];
    const keys = [KIND, ...others.map((other) => ({ ...KIND, ...other }))].map((kind) => templateKey(kind, version));
    expect(new Set([...keys, templateKey(KIND, 'QEMU 8')]).size).toBe(others.length + 2);
    expect(templateKey({ ...KIND, memory: 'copy' }, version)).toBe(keys[0]);
  });

  it('is thrown away when two copies in a row have not come up, not when one was killed', async () => {
    const folder = join(directory, templateKey(KIND, version));
    mkdirSync(folder);
    for (const [name, text] of Object.entries({ image: '/', state: '', memory: '' })) writeFileSync(join(folder, name), text);
    const support = { version } as VmSupport;
    const templates = new Templates({ directory, support, log: silentLogger, caches: { directories: [directory], budgetBytes: () => 0 } });
    await templates.failed(KIND);
    templates.worked(KIND);
    await templates.failed(KIND);
    expect(existsSync(folder)).toBe(true);
    await templates.failed(KIND);
    expect(existsSync(folder)).toBe(false);
    await templates.close();
  });
});
