/** Fifty clients at once, each with a server process of its own: ours all ask one daemon. */
import type { BenchContext, Contestant, Operation } from '../harness/operation.ts';
import { rateOf } from '../harness/timing.ts';
import { Calls } from './calls.ts';
import { startDaemon } from './daemon.ts';
import { LineClient } from './line-client.ts';
import { type Call, echo, readTask } from './messages.ts';
import { productPath, programPath } from './programs.ts';

const CLIENTS = 50;
const EACH = 40;
const QUICK_EACH = 10;

export const many: Operation = {
  id: 'many',
  about: '50 clients, each with an `agentiso mcp` of its own on one daemon, or with an echo server of its own; one call at a time each',
  rounds: { full: 20, quick: 3 },
  reference: 'echo',
  comparisons: [
    {
      label: 'tool calls, 50 clients at once',
      unit: 'op/s',
      ours: (of) => of('ours'),
      reference: { name: '50 SDK echo servers', value: (of) => of('echo') },
    },
  ],
  async open(context) {
    const { home, taskName, taskText } = await startDaemon(context);
    return [
      await manyContestant(context, 'ours', [productPath(), 'mcp', '--home', home], readTask(taskName)),
      await manyContestant(context, 'echo', [programPath('echo-stdio')], echo(taskText)),
    ];
  },
};

async function manyContestant({ own, quick }: BenchContext, name: string, argv: readonly string[], call: Call): Promise<Contestant> {
  const clients = await Promise.all(Array.from({ length: CLIENTS }, () => LineClient.start(argv).then(own)));
  const calls = clients.map((client) => new Calls(client, call));
  return { name, run: () => rateOf(CLIENTS, quick ? QUICK_EACH : EACH, async (index) => calls[index]?.once()) };
}
