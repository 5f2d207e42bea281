/** What scripts/bench.mjs put ready for the API benchmarks: the product as it ships, and bundled references. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The program to measure, or `module` in its place, to prove that the harness can fail. */
export function productPath(module: string | undefined): string {
  return module === undefined ? join(bundles(), 'product', 'agentiso.js') : fileURLToPath(module);
}

/** test/bench/api/<name>.ts, bundled: references run without a loader, as the product does. */
export function referencePath(name: 'floor-server' | 'one-request'): string {
  return join(bundles(), `${name}.mjs`);
}

function bundles(): string {
  const dir = process.env['AGENTISO_BENCH_API'];
  if (dir === undefined) throw new Error('start the benchmarks with npm run bench');
  return dir;
}
