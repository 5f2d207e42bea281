import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { silentLogger } from '#lib/log.ts';
import { Folders } from './folders.ts';
import { Paths } from './paths.ts';

let root: string;
let folders: Folders;
let told: { files: string[]; rescans: number; lost: string[] };

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'agentiso-folders-'));
  told = { files: [], rescans: 0, lost: [] };
  folders = new Folders({
    paths: new Paths(root, [
      { kind: 'Team', plural: 'teams' },
      { kind: 'Task', plural: 'tasks' },
    ]),
    onFile: ({ kind, namespace, name }) => void told.files.push(`${kind}/${namespace}/${name}`),
    onRescan: () => void told.rescans++,
    onLost: (kind) => void told.lost.push(kind),
    log: silentLogger,
  });
});
afterEach(() => {
  folders.close();
  rmSync(root, { recursive: true, force: true });
});

const listed = () => [...folders.files()].map(({ kind, namespace, name }) => `${kind}/${namespace}/${name}`).sort();

describe('Folders', () => {
  it('makes the folders of the kinds, for nobody else to read', () => {
    folders.start();
    expect(listed()).toEqual([]);
    writeFileSync(join(root, 'teams', 'stray.yaml'), '');
    expect(listed()).toEqual([]);
  });

  it('lists the files that stand for objects, and follows no link out of the directory', () => {
    mkdirSync(join(root, 'teams', 'default'), { recursive: true });
    mkdirSync(join(root, 'teams', 'Not A Namespace'));
    mkdirSync(join(root, 'other', 'default'), { recursive: true });
    symlinkSync('/etc', join(root, 'teams', 'link'));
    for (const path of [
      'teams/default/a.yaml',
      'teams/default/.a.yaml.swp',
      'teams/default/.b.yaml',
      'teams/default/c.txt',
      'teams/default/d.yaml.rejected',
      'other/default/e.yaml',
    ]) {
      writeFileSync(join(root, path), '');
    }
    writeFileSync(join(root, 'teams', 'Not A Namespace', 'f.yaml'), '');
    folders.start();
    expect(listed()).toEqual(['Team/default/a']);
  });

  it('hints at a file that changes, also in a namespace that is new', async () => {
    mkdirSync(join(root, 'teams', 'default'), { recursive: true });
    folders.start();
    writeFileSync(join(root, 'teams', 'default', 'a.yaml'), 'x');
    await vi.waitFor(() => expect(told.files).toContain('Team/default/a'));
    mkdirSync(join(root, 'tasks', 'prod'));
    await vi.waitFor(() => expect(told.rescans).toBeGreaterThan(0));
    writeFileSync(join(root, 'tasks', 'prod', 'b.yaml'), 'x');
    await vi.waitFor(() => expect(told.files).toContain('Task/prod/b'));
  });

  it('brings back the folder of a kind that was taken away, and says so', async () => {
    folders.start();
    renameSync(join(root, 'teams'), join(root, 'elsewhere'));
    await vi.waitFor(() => expect(told.lost).toEqual(['Team']));
    expect(listed()).toEqual([]);
  });

  it('says nothing after it is closed', async () => {
    mkdirSync(join(root, 'teams', 'default'), { recursive: true });
    folders.start();
    folders.close();
    writeFileSync(join(root, 'teams', 'default', 'a.yaml'), 'x');
    await new Promise((resolve) => setImmediate(resolve));
    expect(told).toEqual({ files: [], rescans: 0, lost: [] });
  });
});
