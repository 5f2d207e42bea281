/** What is tested of sandboxes as root, tested once more as a user who is nobody special. Without root, the suites themselves do that. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { requires } from '../support/requirements.ts';

const NOBODY_SPECIAL = 70_999;
const AS_USER = ['setpriv', `--reuid=${NOBODY_SPECIAL}`, `--regid=${NOBODY_SPECIAL}`, '--clear-groups', '--'] as const;
const VITEST = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url));
const [first, ...rest] = AS_USER;
const isRoot = process.getuid?.() === 0;
const canRead = isRoot && spawnSync(first, [...rest, 'test', '-r', VITEST]).status === 0;
const canSandbox = canRead && spawnSync(first, [...rest, 'bwrap', '--unshare-user', '--ro-bind', '/', '/', 'true']).status === 0;

requires(!isRoot || canSandbox, 'another user: it must be able to read this folder and to make user namespaces')('as another user', () => {
  it.runIf(isRoot).each([
    ['the sandbox driver does what every driver must', 'test/conformance/driver.test.ts', 'the sandbox driver'],
    ['nothing gets out of a sandbox', 'test/e2e/sandbox-escape.test.ts', 'from inside'],
  ])('%s', async (_, file, name) => {
    const home = await mkdtemp(join(tmpdir(), 'agentiso-user-'));
    try {
      await chown(home, NOBODY_SPECIAL, NOBODY_SPECIAL);
      // Nothing may be written to this folder, by anybody else: not even a compiled configuration.
      const args = [...rest, process.execPath, VITEST, 'run', '--configLoader', 'runner', '--project', 'e2e', file, '-t', name];
      const env = { ...process.env, HOME: home, TMPDIR: home, AGENTISO_TEST_REQUIRE: '' };
      const child = spawn(first, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
      const [[code], out, complaints] = await Promise.all([once(child, 'exit'), text(child.stdout), text(child.stderr)]);
      expect(code, `${out}\n${complaints}`).toBe(0);
      expect(out).toMatch(/\d+ passed/);
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  });
});
