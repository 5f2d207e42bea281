import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bundleOf } from './bundle.ts';

/** So many that git cannot be told of all of them before it reads. */
const KNOWN = 4_000;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'agentiso-bundle-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('a bundle', () => {
  it('fails with what git says, also when that ends before it was told everything', async () => {
    const run = (...args: string[]) =>
      execFileSync('git', ['-C', folder, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args])
        .toString()
        .trim();
    run('init', '-q');
    const [known, commit] = ['one', 'two'].map((message) => {
      run('commit', '-q', '--allow-empty', '-m', message);
      return run('rev-parse', 'HEAD');
    });
    const programs = join(folder, 'programs');
    mkdirSync(programs);
    const real = execFileSync('which', ['git']).toString().trim();
    const fails = `#!/bin/sh\ncase " $* " in *" bundle "*) echo 'no room' >&2; exit 128;; esac\nexec ${real} "$@"\n`;
    writeFileSync(join(programs, 'git'), fails, { mode: 0o755 });
    const unheard: unknown[] = [];
    const hear = (error: unknown) => unheard.push(error);
    process.on('uncaughtException', hear);
    const options = { directory: folder, env: { PATH: `${programs}:/usr/bin:/bin` } };
    const bundle = bundleOf(
      commit ?? '',
      Array.from({ length: KNOWN }, () => known ?? ''),
      options,
    );
    await expect(bundle.toArray()).rejects.toThrow('no room');
    await nextTurn();
    process.off('uncaughtException', hear);
    expect(unheard).toEqual([]);
  });
});
