/** Bundles the program and the guest agent into dist/. Plain JavaScript, so that a fresh clone needs nothing but esbuild. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
// Built aside and put in place at the end: whoever runs the old one meanwhile keeps a whole one.
const target = join(root, 'dist');
const dist = join(root, `dist.${process.pid}`);

const common = {
  absWorkingDir: root,
  outdir: dist,
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  legalComments: 'none',
  define: { AGENTISO_VERSION: JSON.stringify(version) },
};
const small = { minifySyntax: true, minifyWhitespace: true };

// The whole program, in pieces that are loaded when they are needed.
await build({
  ...common,
  ...small,
  entryPoints: { full: 'src/main.ts' },
  outExtension: { '.js': '.mjs' },
  splitting: true,
  format: 'esm',
  // A native addon: found in node_modules at run time.
  external: ['koffi'],
  // CommonJS dependencies inside an ES module need a require of their own.
  banner: { js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);" },
});

// The commands that only ask the daemon, as one file of the kind that node loads fastest (src/cli/quick.ts says which).
const leftOut = {
  name: 'left-out',
  setup(builder) {
    const elsewhere =
      /(?:daemon|open-backends|user-images|local-commands|api-commands|help|manifest|kinds|validate|kubeconfig-edit|parse-yaml)\.ts$/;
    builder.onResolve({ filter: elsewhere }, ({ kind, path }) => (kind === 'dynamic-import' ? { path, namespace: 'left-out' } : undefined));
    builder.onLoad({ filter: /.*/, namespace: 'left-out' }, ({ path }) => ({
      contents: `throw new Error(${JSON.stringify(`${path} is not part of the quick program`)});`,
    }));
  },
};
const { metafile } = await build({
  ...common,
  ...small,
  entryPoints: { quick: 'src/main.ts' },
  // Its compiled code belongs to exactly these bytes: both have a name that no other build gives.
  entryNames: '[name]-[hash]',
  metafile: true,
  format: 'cjs',
  supported: { 'dynamic-import': false },
  plugins: [leftOut],
});
const quick = basename(Object.keys(metafile.outputs)[0], '.js');
const compile = [join(root, 'scripts', 'warm-up.cjs'), join(dist, `${quick}.js`), join(dist, `${quick}.cache`)];
execFileSync(process.execPath, [...compile, 'get', 'tasks', '--home', join(dist, 'nobody')], { stdio: 'ignore' });
await build({
  ...common,
  entryPoints: { agentiso: 'src/launch.ts' },
  define: { ...common.define, QUICK_PROGRAM: JSON.stringify(quick) },
  format: 'cjs',
  external: ['./full.mjs'],
  banner: { js: '#!/usr/bin/env node' },
});
execFileSync(process.execPath, [join(root, 'scripts', 'bundle-guest.mjs'), dist], { stdio: ['ignore', 'inherit', 'inherit'] });
writeFileSync(join(dist, 'package.json'), '{ "type": "commonjs" }\n');
// The pieces of the build before stay for programs that run it and have not loaded all of theirs yet.
const own = readdirSync(dist);
for (const name of piecesOf(join(target, '.built'))) if (!own.includes(name)) copyFileSync(join(target, name), join(dist, name));
// scripts/agentiso compares this file's age with the sources.
writeFileSync(join(dist, '.built'), own.join('\n'));
const old = `${dist}.old`;
if (existsSync(target)) renameSync(target, old);
renameSync(dist, target);
rmSync(old, { recursive: true, force: true });

/** Names with a hash, which no other build gives to something else. */
function piecesOf(list) {
  if (!existsSync(list)) return [];
  return readFileSync(list, 'utf8')
    .split('\n')
    .filter((name) => /-[0-9A-Z]{8}\.(?:mjs|js|cache)$/.test(name) && existsSync(join(target, name)));
}
