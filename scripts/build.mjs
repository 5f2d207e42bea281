/** Bundles the program and the guest agent into dist/. Plain JavaScript, so that a fresh clone needs nothing but esbuild. */
import { execFile, execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { compiledValidators } from './compiled-validators.mjs';
import { rehearseDaemon } from './rehearse-daemon.mjs';

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
/** What a server answers to `get tasks`. */
const TABLE = {
  kind: 'Table',
  apiVersion: 'meta.k8s.io/v1',
  metadata: { resourceVersion: '2' },
  columnDefinitions: ['Name', 'Phase', 'Owner', 'Age'].map((name) => ({ name, type: 'string', format: '', description: '', priority: 0 })),
  rows: ['first', 'second'].map((name) => ({
    cells: [name, 'Pending', null, '3s'],
    object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: { name, namespace: 'default' } },
  })),
};
const WARM_UPS = { get: ['get', 'tasks'], quick: ['events'] };
/** js-yaml reads functions with it where it finds it, and a note's frontmatter has none: parsing it would be a tenth of a daemon's start. */
const withoutEsprima = {
  name: 'without-esprima',
  setup(builder) {
    builder.onLoad({ filter: /js-yaml\/lib\/js-yaml\/type\/js\/function\.js$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replace("_require('esprima')", 'undefined'),
    }));
  },
};
const small = { minifySyntax: true, minifyWhitespace: true };

execFileSync(process.execPath, [join(root, 'scripts', 'bundle-guest.mjs'), dist], { stdio: ['ignore', 'inherit', 'inherit'] });
// The whole program, and the commands that only ask the daemon in smaller ones (src/cli/quick.ts says which).
const programs = {
  full: await buildFull(),
  get: await buildQuick('get', /\/commands\/get\.ts$/),
  quick: await buildQuick('quick', /\/quick-commands\.ts$/),
};
await build({
  ...common,
  entryPoints: { agentiso: 'src/launch.ts' },
  define: { ...common.define, PROGRAMS: JSON.stringify(programs) },
  format: 'cjs',
  banner: { js: '#!/usr/bin/env node' },
});
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

/** What is loaded only when it is needed is in the file, but runs only then. Resolves to its name. */
async function buildFull() {
  const built = await buildProgram('full', {
    define: { ...common.define, 'import.meta.url': 'ownUrl' },
    banner: { js: "const ownUrl = require('node:url').pathToFileURL(__filename).href;" },
    // A native addon: found in node_modules at run time.
    external: ['koffi'],
    plugins: [withoutEsprima, compiledValidators],
  });
  await rehearseDaemon(compilerOf(built), join(root, 'manifests', 'hello.yaml'));
  return built;
}

/**
 * One file with the commands that `commands` loads. What else is loaded only when it is needed is left out: whatever comes along has to
 * be read at every start. Resolves to its name.
 */
async function buildQuick(name, commands) {
  const leftOut = {
    name: 'left-out',
    setup(builder) {
      builder.onResolve({ filter: /./ }, ({ kind, path }) =>
        kind === 'dynamic-import' && !path.startsWith('node:') && !commands.test(path) ? { path, namespace: 'left-out' } : undefined,
      );
      builder.onLoad({ filter: /./, namespace: 'left-out' }, ({ path }) => ({
        contents: `throw new Error(${JSON.stringify(`${path} is not part of the quick program`)});`,
      }));
    },
  };
  const built = await buildProgram(name, { define: { ...common.define, IS_QUICK_PROGRAM: 'true' }, plugins: [leftOut] });
  await warmUp(compilerOf(built), WARM_UPS[name]);
  return built;
}

/** One file of the kind that node loads fastest. */
async function buildProgram(name, options) {
  const { metafile } = await build({
    ...common,
    ...small,
    ...options,
    entryPoints: { [name]: 'src/main.ts' },
    // Its compiled code belongs to exactly these bytes: both have a name that no other build gives.
    entryNames: '[name]-[hash]',
    metafile: true,
    format: 'cjs',
    supported: { 'dynamic-import': false },
  });
  const built = basename(Object.keys(metafile.outputs)[0], '.js');
  inAscii(join(dist, `${built}.js`));
  return built;
}

/** The arguments of a Node that runs it and keeps what was compiled. */
function compilerOf(built) {
  return [join(root, 'scripts', 'warm-up.cjs'), join(dist, `${built}.js`), join(dist, `${built}.cache`)];
}

/** Plain ASCII takes a third of the time to read; in regular expressions esbuild leaves other characters as they are. */
function inAscii(file) {
  const escaped = (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  writeFileSync(file, readFileSync(file, 'utf8').replace(/[^\0-\x7f]/g, escaped));
}

/** With an answer, so that the code that reads and prints it is compiled as well. Where none can be given, less is compiled. */
async function warmUp(compile, args) {
  const home = mkdtempSync(join(tmpdir(), 'agentiso-build-'));
  const server = createServer((_request, response) => response.end(JSON.stringify(TABLE)));
  // The path of a socket may be too long where temporary files are.
  await new Promise((resolve) => server.once('error', resolve).listen(join(home, 'agentiso.sock'), resolve));
  try {
    await promisify(execFile)(process.execPath, [...compile, ...args, '--home', home], { env: {} }).catch((error) => {
      if (!existsSync(compile[2])) throw error;
    });
  } finally {
    server.close();
    rmSync(home, { recursive: true, force: true });
  }
}

/** Names with a hash, which no other build gives to something else. */
function piecesOf(list) {
  if (!existsSync(list)) return [];
  return readFileSync(list, 'utf8')
    .split('\n')
    .filter((name) => /-[0-9A-Z]{8}\.(?:js|cache)$/.test(name) && existsSync(join(target, name)));
}
