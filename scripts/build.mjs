/** Bundles the program and the guest agent into dist/. Plain JavaScript, so that a fresh clone needs nothing but esbuild. */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
// Built aside and put in place at the end: whoever runs the old one meanwhile keeps a whole one.
const target = join(root, 'dist');
const dist = join(root, `dist.${process.pid}`);

await build({
  absWorkingDir: root,
  entryPoints: { agentiso: 'src/main.ts' },
  outdir: dist,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'none',
  // A native addon: found in node_modules at run time.
  external: ['koffi'],
  define: { AGENTISO_VERSION: JSON.stringify(version) },
  // CommonJS dependencies inside an ES module need a require of their own.
  banner: { js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);" },
});
await build({
  absWorkingDir: root,
  entryPoints: { 'guest-agent': 'guest-agent/main.ts' },
  outdir: dist,
  outExtension: { '.js': '.cjs' },
  bundle: true,
  format: 'cjs',
  platform: 'node',
  target: 'node20.19',
  legalComments: 'none',
  define: { AGENTISO_VERSION: JSON.stringify(version) },
});
// scripts/agentiso compares this file's age with the sources.
writeFileSync(join(dist, '.built'), '');
const old = `${dist}.old`;
if (existsSync(target)) renameSync(target, old);
renameSync(dist, target);
rmSync(old, { recursive: true, force: true });
