import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { linkOf } from './addresses.ts';
import { Links } from './links.ts';
import type { Router } from './router.ts';
import type { Tools } from './tools.ts';

const AGENT = 5;
const WAIT = { timeout: 10_000, interval: 10 };
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'agentiso-links-'));
  execFileSync('mkfifo', [join(folder, 'go-1'), join(folder, 'go-2')]);
});
afterEach(() => rmSync(folder, { recursive: true }));

function program(name: string, script: string): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

/** Programs in the place of the real ones, which change nothing: batches are written down, and the n-th question for links has its answer when it is given. */
function tools(): Tools {
  const ask = `n=1; while ! mkdir "${folder}/asked-$n"; do n=$((n + 1)); done; cat "${folder}/go-$n"`;
  const ip = program('ip', `case "$*" in *batch*) cat >> "${folder}/batches" ;; *) ${ask} ;; esac`);
  const nsenter = program('nsenter', 'while [ "$1" != -- ]; do shift; done; shift; exec "$@"');
  return { ip, nsenter, nft: '', setpriv: '', unshare: '' };
}

const asked = (n: number) => vi.waitFor(() => expect(existsSync(join(folder, `asked-${n}`))).toBe(true), WAIT);
const answer = (n: number, names: readonly string[]) =>
  writeFile(join(folder, `go-${n}`), JSON.stringify(names.map((ifname) => ({ ifname }))));

it('know of a link that was made while others were still being looked at', async () => {
  const router = { name: 'none', exists: () => true } as unknown as Router;
  const links = new Links({ home: basename(folder), tools: tools(), router });
  const early = links.list();
  await asked(1);
  const made = links.ensure(AGENT);
  await asked(2);
  await answer(2, []);
  await made;
  // It had looked before the link was there.
  await answer(1, []);
  expect(await early).toContain(AGENT);
  await links.remove(AGENT);
  expect(readFileSync(join(folder, 'batches'), 'utf8')).toContain(`link del ${linkOf(AGENT)}\n`);
});
