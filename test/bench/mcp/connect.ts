/** From the start of a client's server to its first word: `agentiso mcp` against an echo server of the SDK. */
import type { Contestant, Operation } from '../harness/operation.ts';
import { medianOf } from '../harness/timing.ts';
import { atMost } from '../harness/verdict.ts';
import { startDaemon } from './daemon.ts';
import { LineClient } from './line-client.ts';
import { productPath, programPath } from './programs.ts';

const STARTS = 3;

export const connect: Operation = {
  id: 'connect',
  about:
    'from the start of the process to its answer to initialize; ours is `agentiso mcp`, whose daemon runs; the echo server is bundled, so that it does not look for its packages',
  rounds: { full: 20, quick: 3 },
  reference: 'echo',
  comparisons: [
    {
      label: 'connect over stdio',
      unit: 'ms',
      ours: (of) => of('ours'),
      reference: { name: 'SDK echo', value: (of) => of('echo') },
      goal: atMost(1.2),
    },
  ],
  async open(context) {
    const { home } = await startDaemon(context);
    return [startContestant('ours', [productPath(), 'mcp', '--home', home]), startContestant('echo', [programPath('echo-stdio')])];
  },
};

function startContestant(name: string, argv: readonly string[]): Contestant {
  return {
    name,
    run: () =>
      medianOf(Array.from({ length: STARTS }), async () => {
        const startedMs = performance.now();
        const client = await LineClient.start(argv);
        const elapsedMs = performance.now() - startedMs;
        await client.close();
        return elapsedMs;
      }),
  };
}
