/** What scripts/bench.mjs put ready for the benchmarks of MCP: the product as it ships, a daemon without rate limits, bundled references. */
import { join } from 'node:path';

/** `agentiso`. */
export function productPath(): string {
  return join(bundles(), 'product', 'agentiso.js');
}

/** test/bench/mcp/<name>.ts, bundled. */
export function programPath(name: 'daemon-process' | 'echo-http' | 'echo-stdio'): string {
  return join(bundles(), `${name}.mjs`);
}

function bundles(): string {
  const dir = process.env['AGENTISO_BENCH_MCP'];
  if (dir === undefined) throw new Error('start the benchmarks with npm run bench');
  return dir;
}
