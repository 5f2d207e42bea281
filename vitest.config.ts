import { defineConfig } from 'vitest/config';
import { Sequence } from './test/support/sequence.ts';

/** unit: seconds, needs nothing but Node. e2e and soak: real processes, real tools. agents: real coding agents, from the npm registry. vsock: machines that are reached by it. */
export default defineConfig({
  test: {
    sequence: { sequencer: Sequence },
    projects: [
      {
        test: {
          name: 'unit',
          include: ['{src,controllers,guest-agent,scripts}/**/*.test.ts', 'test/{bench,support}/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          // No test changes what others share, and a worker per file costs more than the tests.
          isolate: false,
        },
      },
      { test: { name: 'e2e', include: ['test/{conformance,e2e}/**/*.test.ts'], testTimeout: 120_000, hookTimeout: 60_000 } },
      { test: { name: 'vsock', include: ['test/vsock/**/*.test.ts'], testTimeout: 600_000, hookTimeout: 300_000, fileParallelism: false } },
      { test: { name: 'soak', include: ['test/soak/**/*.test.ts'], testTimeout: 1_200_000 } },
      {
        test: { name: 'agents', include: ['test/agents/**/*.test.ts'], testTimeout: 180_000, hookTimeout: 120_000, fileParallelism: false },
      },
    ],
  },
});
