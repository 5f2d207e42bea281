/** Rooms import only downward: every pair of rooms is tried against the linter's configuration, and so are the ways around it. */
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { inTemporaryFolder } from '../support/cli.ts';

const root = join(import.meta.dirname, '..', '..');

/** room → what it may import; the table of docs/architecture.md. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  'src/lib': [],
  'src/protocol': [],
  'src/api': ['#lib'],
  'src/store': ['#api', '#lib'],
  'src/client': ['#store', '#api', '#lib'],
  'src/runtime': ['#client', '#api', '#lib'],
  'src/manifests': ['#client', '#api', '#lib'],
  'src/guest': ['#protocol', '#lib'],
  'src/drivers': ['#guest', '#lib'],
  'src/backends': ['#lib'],
  'src/prompt-runner': ['#backends', '#protocol'],
  'src/network': ['#lib'],
  'src/providers': ['#api', '#lib'],
  'src/mail': ['#protocol', '#lib'],
  'src/vault': ['#lib'],
  'src/git': ['#lib'],
  'src/images': ['#lib'],
  'src/mcp': ['#client', '#protocol', '#api', '#lib'],
  'src/relay': ['#client', '#mail', '#vault', '#protocol', '#api', '#lib'],
  'src/server': ['#store', '#api', '#lib'],
  'src/cli': ['#client', '#api', '#lib'],
  controllers: ['#runtime', '#client', '#api', '#lib'],
  'guest-agent': ['#protocol'],
};
const ROOMS = [
  '#lib',
  '#protocol',
  '#api',
  '#store',
  '#client',
  '#runtime',
  '#manifests',
  '#guest',
  '#drivers',
  '#backends',
  '#prompt-runner',
  '#network',
  '#providers',
  '#mail',
  '#vault',
  '#git',
  '#images',
  '#mcp',
  '#relay',
  '#server',
  '#cli',
  '#controllers',
];

interface Diagnostic {
  readonly category: string;
  readonly location: { readonly path: { readonly file: string } | string };
}

it('lets no room import one that is not below it', async () => {
  await inTemporaryFolder(async (folder) => {
    copyFileSync(join(root, 'biome.json'), join(folder, 'biome.json'));
    execFileSync('git', ['init', '-q'], { cwd: folder });
    const expected = new Set<string>();
    const plant = (file: string, specifier: string, isAllowed: boolean) => {
      mkdirSync(join(folder, file, '..'), { recursive: true });
      writeFileSync(join(folder, file), `import { thing } from '${specifier}';\n\nexport const other = thing;\n`);
      if (!isAllowed) expected.add(file);
    };
    for (const [room, allowed] of Object.entries(ALLOWED)) {
      for (const target of ROOMS) plant(`${room}/to-${target.slice(1)}.ts`, `${target}/thing.ts`, allowed.includes(target));
      plant(`${room}/to-main.ts`, '#main', false);
      plant(`${room}/deep/by-path.ts`, '../../../src/store/thing.ts', false);
      plant(`${room}/by-sibling.ts`, '../other/thing.ts', false);
      // A controller's folder is a room of its own.
      plant(`${room}/deep/inside.ts`, '../thing.ts', room !== 'controllers');
    }
    for (const contract of [
      '#drivers/driver.ts',
      '#guest/sessions.ts',
      '#network/network.ts',
      '#mail/mail.ts',
      '#vault/vault.ts',
      '#git/team-repository.ts',
      '#relay/notices.ts',
      '#relay/task-book.ts',
    ]) {
      plant(`controllers/agent/to${contract.replace(/[#/]/g, '-')}`, contract, true);
    }
    plant('guest-agent/state/to-quick-writes.ts', '#lib/quick-writes.ts', true);
    const { stdout } = spawnSync(join(root, 'node_modules/.bin/biome'), ['lint', '--reporter=json', '--max-diagnostics=none', '.'], {
      cwd: folder,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    });
    const { diagnostics } = JSON.parse(stdout) as { diagnostics: Diagnostic[] };
    const refused = diagnostics
      .filter(({ category }) => category === 'lint/style/noRestrictedImports')
      .map(({ location: { path } }) => (typeof path === 'string' ? path : path.file).replace(/^\.\//, ''));
    expect([...new Set(refused)].sort()).toEqual([...expected].sort());
  });
});
