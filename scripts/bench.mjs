#!/usr/bin/env node
/** Starts the benchmarks (test/bench/index.ts) from source with the node flags they need; passes arguments, signals and exit code through. */
import { spawn } from 'node:child_process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const entry = fileURLToPath(new URL('../test/bench/index.ts', import.meta.url));
const subject = fileURLToPath(new URL('../node_modules/.cache/agentiso/bench-subject.mjs', import.meta.url));
// The store is measured as it ships; the benchmarks around it run from source, which tsx makes slower.
await build({
  entryPoints: [fileURLToPath(new URL('../test/bench/store-subject.ts', import.meta.url))],
  outfile: subject,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  external: ['koffi'],
  banner: { js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);" },
});

const flags = ['--expose-gc', '--import', import.meta.resolve('tsx')];
const child = spawn(process.execPath, [...flags, entry, ...process.argv.slice(2)], {
  stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  env: { ...process.env, AGENTISO_BENCH_SUBJECT: pathToFileURL(subject).href },
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
