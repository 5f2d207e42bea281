/** Suites that need what a machine may lack: skipped with a printed reason and counted, or a failure where nothing may be skipped. */
import { describe } from 'vitest';

let skipped = 0;

/** Use as `requires(canMount, 'reason')('suite', () => …)`. With AGENTISO_TEST_REQUIRE=all a missing requirement throws. */
export function requires(condition: boolean, reason: string): typeof describe | typeof describe.skip {
  if (condition) return describe;
  if (process.env['AGENTISO_TEST_REQUIRE'] === 'all') throw new Error(`a required suite cannot run here: ${reason}`);
  skipped++;
  console.warn(`skipped (${skipped} in this file): ${reason}`);
  return describe.skip;
}
