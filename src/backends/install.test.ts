/** Installing, with an npm that is a script: what the real one does is for test:agents. */
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Backend } from './backend.ts';
import { type InstallOptions, installBackend } from './install.ts';
import { findInstalled } from './installed.ts';

const { signal } = new AbortController();
const backend: Backend = {
  name: 'codex',
  title: 'A test',
  packages: [
    { name: '@some/agent', version: '1.2.3' },
    { name: 'adapter', version: '4.5.6' },
  ],
  binaries: ['agent', 'agent-acp'],
};

let folder: string;
let tools: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'agentiso-install-'));
  tools = join(folder, 'a', 'tools');
});
afterEach(() => rmSync(folder, { recursive: true }));

const GOOD = `
echo run >> ${'$'}LOG
test -f package.json || exit 9
for p in @some/agent:1.2.3 adapter:4.5.6; do
  mkdir -p node_modules/${'$'}{p%:*}
  echo "{\\"version\\":\\"${'$'}{p#*:}\\"}" > node_modules/${'$'}{p%:*}/package.json
done
mkdir -p node_modules/.bin
for b in agent agent-acp; do printf '#!/bin/sh\\necho 1.2.3\\n' > node_modules/.bin/${'$'}b; chmod 700 node_modules/.bin/${'$'}b; done
chmod 600 package.json
`;

function options(script: string): InstallOptions {
  const npm = join(folder, 'npm');
  writeFileSync(npm, `#!/bin/sh\n${script}`);
  chmodSync(npm, 0o755);
  return { tools, npm, environment: { PATH: process.env['PATH'], LOG: join(folder, 'log') }, signal };
}
const runs = () => readFileSync(join(folder, 'log'), 'utf8').split('\n').length - 1;

it('installs once, whole, and readable by everybody', async () => {
  expect(await findInstalled(tools, backend)).toEqual({ missing: 'not installed' });
  const where = join(tools, 'codex@1.2.3+4.5.6');
  expect(await installBackend(backend, options(GOOD))).toEqual({ folder: where, isNew: true });
  expect(await installBackend(backend, options(GOOD))).toEqual({ folder: where, isNew: false });
  expect(runs()).toBe(1);
  expect(statSync(join(where, 'package.json')).mode & 0o777).toBe(0o644);
  expect(statSync(join(where, 'node_modules/.bin/agent')).mode & 0o777).toBe(0o755);
  expect(readdirSync(tools).filter((name) => name.startsWith('.installing'))).toEqual([]);
});

it('lets two that come at once install once', async () => {
  const both = await Promise.all([1, 2, 3].map(() => installBackend(backend, options(`sleep 0.3\n${GOOD}`))));
  expect(both.filter(({ isNew }) => isNew)).toHaveLength(1);
  expect(runs()).toBe(1);
});

it('begins anew what was cut off', async () => {
  const draft = join(tools, '.installing-codex@1.2.3+4.5.6', 'node_modules', 'half');
  await mkdir(draft, { recursive: true });
  const { folder: where } = await installBackend(backend, options(GOOD));
  expect(existsSync(join(where, 'node_modules', 'half'))).toBe(false);
});

it.each([
  ['npm fails', 'echo "npm error 404 not found" >&2; exit 1', /npm could not install codex: npm error 404 not found/],
  [
    'npm takes an older version in silence',
    `${GOOD}\necho '{"version":"1.0.0"}' > node_modules/adapter/package.json`,
    /adapter is 1\.0\.0 and not 4\.5\.6/,
  ],
  ['npm leaves no binary', `${GOOD}\nrm node_modules/.bin/agent`, /and it does not work: .*ENOENT/],
  [
    'the agent does not start',
    `${GOOD}\nprintf '#!/bin/sh\\necho no binary >&2; exit 1' > node_modules/.bin/agent`,
    /and it does not work: no binary/,
  ],
])('is not installed when %s', async (_, script, message) => {
  await expect(installBackend(backend, options(script))).rejects.toThrow(message);
  expect(await findInstalled(tools, backend)).toEqual({ missing: 'not installed' });
  expect(await installBackend(backend, options(GOOD))).toMatchObject({ isNew: true });
});

it('stops when it is told to', async () => {
  const stopping = new AbortController();
  const installing = installBackend(backend, { ...options('echo run >> $LOG; exec sleep 60'), signal: stopping.signal });
  setTimeout(() => stopping.abort(), 50);
  await expect(installing).rejects.toThrow();
});

it('does not install what does not come from npm', async () => {
  await expect(installBackend({ name: 'acp', title: '', packages: [], binaries: [] }, options(GOOD))).rejects.toThrow(
    /acp cannot be installed: not configured/,
  );
});
