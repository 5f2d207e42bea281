/** One tool called over and over by one client. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readKubeconfig } from '../../support/daemon.ts';
import { checked, HttpClient } from '../api/http-client.ts';
import { formatRequest } from '../api/response.ts';
import { startServer } from '../api/server-process.ts';
import { type BenchContext, BenchError, type Contestant, type Operation } from '../harness/operation.ts';
import { medianOfEach } from '../harness/timing.ts';
import { atMost } from '../harness/verdict.ts';
import { Calls, callContestant } from './calls.ts';
import { type Daemon, startDaemon } from './daemon.ts';
import { HttpCaller, type HttpServer } from './http-caller.ts';
import { LineClient } from './line-client.ts';
import { echo, readTask } from './messages.ts';
import { productPath, programPath } from './programs.ts';

const CALLS = 500;
const QUICK_CALLS = 100;

export const call: Operation = {
  id: 'call',
  about:
    'ours: the tool get of a Task over `agentiso mcp`, which gives it as text and as structured content, with the log of calls; echo: one tool with a zod schema on the McpServer of the SDK, bundled, that says the JSON of the same Task again over stdio; GET: the same Task over the unix socket of the API, which is what the tool asks for; client and servers are processes of their own; over HTTP ours has TLS and a token and the echo server has neither',
  rounds: { full: 20, quick: 3 },
  reference: 'echo',
  comparisons: [
    {
      label: 'tool call over stdio, p50',
      unit: 'ms',
      ours: (of) => of('ours'),
      reference: { name: 'SDK echo + API GET', value: (of) => of('echo') + of('get') },
      goal: atMost(1.15),
    },
    { label: '- against the echo alone', unit: 'ms', ours: (of) => of('ours'), reference: { name: 'SDK echo', value: (of) => of('echo') } },
    {
      label: '- with an echo of one word',
      unit: 'ms',
      ours: (of) => of('ours'),
      reference: { name: 'SDK echo of a word + API GET', value: (of) => of('echo-word') + of('get') },
    },
    {
      label: '- over HOME/mcp.sock, without the pipe',
      unit: 'ms',
      ours: (of) => of('ours-socket'),
      reference: { name: 'SDK echo + API GET', value: (of) => of('echo') + of('get') },
    },
    { label: '- API GET of the same object', unit: 'ms', ours: (of) => of('get') },
    {
      label: '- tool call over HTTPS, p50',
      unit: 'ms',
      ours: (of) => of('ours-http'),
      reference: { name: 'SDK echo over HTTP + API GET', value: (of) => of('echo-http') + of('get') },
    },
  ],
  async open(context) {
    const daemon = await startDaemon(context);
    const count = context.quick ? QUICK_CALLS : CALLS;
    const task = readTask(daemon.taskName);
    const stdio = (argv: readonly string[]) => LineClient.start(argv).then(context.own);
    const http = async (server: HttpServer) => {
      const caller = await HttpCaller.start(server);
      context.own({ close: async () => caller.close() });
      return caller;
    };
    const server = readKubeconfig(join(daemon.home, 'kubeconfig'));
    return [
      callContestant('ours', new Calls(await stdio([productPath(), 'mcp', '--home', daemon.home]), task), count),
      callContestant('ours-socket', new Calls(await LineClient.connect(join(daemon.home, 'mcp.sock')).then(context.own), task), count),
      callContestant('echo', new Calls(await stdio([programPath('echo-stdio')]), echo(daemon.taskText)), count),
      callContestant('echo-word', new Calls(await stdio([programPath('echo-stdio')]), echo('hello')), count),
      await getContestant(context, daemon, count),
      callContestant('ours-http', new Calls(await http({ ...server, url: `${server.url}/mcp` }), task), count),
      callContestant('echo-http', new Calls(await http(await startEchoHttp(context)), echo(daemon.taskText)), count),
    ];
  },
};

async function startEchoHttp({ dir, own }: BenchContext): Promise<HttpServer> {
  const portFile = join(dir, 'echo.port');
  own(await startServer('the echo server', [programPath('echo-http'), portFile]));
  return { url: `http://127.0.0.1:${readFileSync(portFile, 'utf8')}/mcp` };
}

async function getContestant({ own }: BenchContext, { socketPath, taskPath, taskName }: Daemon, count: number): Promise<Contestant> {
  const client = await HttpClient.connect(socketPath);
  own({ close: async () => client.close() });
  const request = Buffer.from(formatRequest({ method: 'GET', path: taskPath }));
  return {
    name: 'get',
    async run() {
      const p50 = await medianOfEach(Array.from({ length: count }), async () => checked(await client.exchange(request)));
      const { metadata } = JSON.parse(
        checked(await client.exchange(request))
          .body()
          .toString(),
      ) as { metadata: { name: string } };
      if (metadata.name !== taskName) throw new BenchError('the API sent something else');
      return p50;
    },
  };
}
