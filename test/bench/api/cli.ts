/** `agentiso get tasks` from its start to its end, against the start of node itself plus one request. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { BenchError, type Contestant, type Operation } from '../harness/operation.ts';
import { medianOfEach } from '../harness/timing.ts';
import { atMost } from '../harness/verdict.ts';
import { makeTask } from '../objects.ts';
import { type Daemon, startDaemon } from './daemon.ts';
import { checked, HttpClient } from './http-client.ts';
import { productPath, referencePath } from './programs.ts';
import { formatRequest } from './response.ts';

const TASKS = 20;
const STARTS = 3;
const REQUESTS = 25;
const PATH = '/apis/agentiso.dev/v1alpha1/namespaces/default/tasks';
/** As kubectl and our own command ask for a table. */
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
const run = promisify(execFile);

export const cli: Operation = {
  id: 'cli',
  about:
    '`node agentiso.js get tasks --home HOME`, 20 Tasks, wall time; reference: wall time of `node -e 0` plus, measured apart from it, one request for the same table on a new connection; the script is a node program that makes this request and prints the answer',
  rounds: { full: 20, quick: 3 },
  reference: 'node',
  comparisons: [
    {
      label: 'agentiso get tasks',
      unit: 'ms',
      ours: (of) => of('ours'),
      reference: { name: 'node -e 0 + request', value: (of) => of('node') + of('request') },
      goal: atMost(1.5),
    },
    {
      label: '- against a script with one request',
      unit: 'ms',
      ours: (of) => of('ours'),
      reference: { name: 'script', value: (of) => of('script') },
    },
    {
      label: '- that script itself',
      unit: 'ms',
      ours: (of) => of('script'),
      reference: { name: 'node -e 0 + request', value: (of) => of('node') + of('request') },
    },
  ],
  async open(context) {
    const daemon = await startDaemon(context);
    await createTasks(daemon);
    const ours = [productPath(context.subjectModule), 'get', 'tasks', '--home', daemon.home];
    return [
      starts('ours', ours, isWholeTable),
      starts('node', ['-e', '0'], (output) => output === ''),
      starts('script', [referencePath('one-request'), daemon.socketPath, PATH, TABLE], (output) => output.includes('"Table"')),
      requestContestant(daemon),
    ];
  },
};

/** Of a team that does not exist: they wait, and nobody works on them. */
async function createTasks(daemon: Daemon): Promise<void> {
  const client = await daemon.connect();
  for (let index = 0; index < TASKS; index += 1) {
    const { status: _controllersOwn, ...draft } = makeTask(index);
    checked(await client.exchange(formatRequest({ method: 'POST', path: PATH, body: JSON.stringify(draft) })));
  }
  await daemon.settle();
}

function isWholeTable(output: string): boolean {
  const lines = output.trimEnd().split('\n');
  return lines.length === TASKS + 1 && /^NAME /.test(lines[0] ?? '');
}

function starts(name: string, argv: readonly string[], isRight: (output: string) => boolean): Contestant {
  return {
    name,
    run: () =>
      medianOfEach(Array.from({ length: STARTS }), async () => {
        const { stdout } = await run(process.execPath, argv, { env: {} });
        if (!isRight(stdout)) throw new BenchError(`${name} printed something else: ${stdout.slice(0, 200)}`);
      }),
  };
}

function requestContestant({ socketPath }: Daemon): Contestant {
  const request = formatRequest({ method: 'GET', path: PATH, accept: TABLE });
  return {
    name: 'request',
    run: () =>
      medianOfEach(Array.from({ length: REQUESTS }), async () => {
        const client = await HttpClient.connect(socketPath);
        checked(await client.exchange(request));
        client.close();
      }),
  };
}
