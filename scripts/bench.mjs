#!/usr/bin/env node
/** Starts the benchmarks (test/bench/index.ts) from source with the node flags they need; passes arguments, signals and exit code through. */
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { compiledValidators } from './compiled-validators.mjs';

const pathOf = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const entry = pathOf('test/bench/index.ts');
const bundles = pathOf('node_modules/.cache/agentiso');
// What is measured runs as it ships; the benchmarks around it run from source, which tsx makes slower.
const BUNDLERS = {
  api: () => bundleApi(`${bundles}/bench-api`),
  messages: () => bundleProgram('AGENTISO_BENCH_MESSAGES', 'test/bench/messages/end-process.ts', `${bundles}/bench-messages`),
  tasks: () => bundleProgram('AGENTISO_BENCH_TASKS', 'test/bench/tasks/team-process.ts', `${bundles}/bench-tasks`),
  mcp: () => bundleMcp(`${bundles}/bench-mcp`),
  scale: () => bundleProgram('AGENTISO_BENCH_SCALE', 'test/bench/scale/fleet-process.ts', `${bundles}/bench-scale`),
};
const bundler = Object.entries(BUNDLERS).find(([name]) => process.argv.includes(name))?.[1];
const env = bundler ? await bundler() : await bundleStore(`${bundles}/bench-subject.mjs`);

async function bundleStore(subject) {
  await bundle({ entryPoints: [pathOf('test/bench/store-subject.ts')], outfile: subject });
  return { AGENTISO_BENCH_SUBJECT: pathToFileURL(subject).href };
}

/** The product comes from the build; a copy, because another build meanwhile would take its files away. */
function copyProduct(dir) {
  execFileSync(process.execPath, [pathOf('scripts/build.mjs')], { stdio: 'inherit' });
  rmSync(dir, { recursive: true, force: true });
  cpSync(pathOf('dist'), `${dir}/product`, { recursive: true });
}

async function bundleApi(dir) {
  copyProduct(dir);
  const references = ['floor-server', 'one-request'].map((name) => pathOf(`test/bench/api/${name}.ts`));
  await bundle({ entryPoints: references, outdir: dir, outExtension: { '.js': '.mjs' } });
  return { AGENTISO_BENCH_API: dir };
}

/** `agentiso mcp` as it ships, and beside it a daemon that can be told to have no rate limits, as no command can. */
async function bundleMcp(dir) {
  copyProduct(dir);
  const programs = ['daemon-process', 'echo-http', 'echo-stdio'].map((name) => pathOf(`test/bench/mcp/${name}.ts`));
  await bundle({ entryPoints: programs, outdir: dir, outExtension: { '.js': '.mjs' } });
  execFileSync(process.execPath, [pathOf('scripts/bundle-guest.mjs'), dir], { stdio: 'inherit' });
  return { AGENTISO_BENCH_MCP: dir };
}

/** A program of the benchmarks that holds a daemon, with the guest agent beside it as the daemon expects it. */
async function bundleProgram(variable, source, dir) {
  rmSync(dir, { recursive: true, force: true });
  const program = `${dir}/program.mjs`;
  await bundle({ entryPoints: [pathOf(source)], outfile: program });
  execFileSync(process.execPath, [pathOf('scripts/bundle-guest.mjs'), dir], { stdio: 'inherit' });
  return { [variable]: program };
}

function bundle(options) {
  return build({
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    external: ['koffi'],
    plugins: [compiledValidators],
    banner: { js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);" },
    ...options,
  });
}

const flags = ['--expose-gc', '--import', import.meta.resolve('tsx')];
const child = spawn(process.execPath, [...flags, entry, ...process.argv.slice(2)], {
  stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  env: { ...process.env, ...env },
});

// The child removes its servers and data before it ends, so this process must outlive the signal.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
// npm starts us through a shell that does not pass signals on: losing that parent is the only sign that npm was ended.
const parent = process.ppid;
setInterval(() => process.ppid !== parent && child.kill('SIGTERM'), 500).unref();
child.on('error', (error) => {
  process.stderr.write(`cannot start the benchmark: ${error.message}\n`);
  process.exitCode = 2;
});
child.on('exit', (code) => {
  process.exitCode = code ?? 1;
});
