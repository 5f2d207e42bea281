/**
 * An AgentIo that behaves: agents are folders of this machine, commands are real processes in them, a terminal is one that `script` of
 * util-linux makes, and ports are those of this machine's loopback. Whatever is started ends with its signal.
 */
import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readFileSync, statSync, watch } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { admission, kinds } from '#api/kinds.ts';
import { API_VERSION } from '#api/meta.ts';
import type { Agent } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import { localClient } from '#client/local.ts';
import { NotFoundError, UnavailableError } from '#lib/errors.ts';
import { silentLogger } from '#lib/log.ts';
import { followNamespaces } from '#runtime/namespaces.ts';
import type { AgentIo, AgentReference, AttachedOutput, ExecOptions, LogQuery, RunningCommand } from '#server/agent-io.ts';
import { createApi } from '#server/api.ts';
import { personIdentity } from '#server/auth/identity.ts';
import { TokenStore } from '#server/auth/tokens.ts';
import { kubeconfigText, writeKubeconfig } from '#server/kubeconfig.ts';
import { openDoors } from '#server/listen.ts';
import { ensureCertificates } from '#server/tls/ensure.ts';
import { readKubeconfig, type Server } from './daemon.ts';
import { memoryStore } from './memory-store.ts';

export interface FakeAgentIo extends AgentIo {
  /** Where the agent's files are. */
  folder(name: string): string;
  /** One line of its log, now. */
  say(name: string, line: string): void;
  /** From now on it does not run. */
  stop(name: string): void;
  /** Processes that have not ended. */
  readonly running: Set<ChildProcess>;
}

const LOG = '.log';

export function fakeAgentIo(root: string): FakeAgentIo {
  const stopped = new Set<string>();
  const running = new Set<ChildProcess>();
  const folder = (name: string) => {
    const path = join(root, name);
    mkdirSync(path, { recursive: true });
    return path;
  };
  const logOf = (name: string) => join(folder(name), LOG);
  const checkRunning = ({ name }: AgentReference) => {
    if (stopped.has(name)) throw new UnavailableError(`the agent ${name} does not run`);
  };
  return {
    running,
    folder,
    say: (name, line) => appendFileSync(logOf(name), `${new Date().toISOString()} ${line}\n`),
    stop: (name) => void stopped.add(name),
    async logs(agent, query, signal) {
      if (query.previous) throw new NotFoundError('no earlier run');
      if (!existsSync(logOf(agent.name))) throw new UnavailableError('it has said nothing yet');
      return logStream(logOf(agent.name), query, signal);
    },
    async exec(agent, options, signal) {
      checkRunning(agent);
      return startCommand({ folder: folder(agent.name), options, signal, running });
    },
    async attach(agent, signal) {
      checkRunning(agent);
      return attachTo(logOf(agent.name), signal);
    },
    async portForward(agent, port, signal) {
      checkRunning(agent);
      return new Promise((resolve, reject) => {
        const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
        socket.once('connect', () => resolve(socket));
        socket.once('error', (error) => reject(new UnavailableError(error.message, { cause: error })));
        signal.addEventListener('abort', () => socket.destroy(), { once: true });
      });
    },
    async usage(agents) {
      return new Map(
        agents.filter(({ name }) => !stopped.has(name)).map(({ uid }) => [uid, { cpuMillicores: 12.4, memoryBytes: 34 << 20 }]),
      );
    },
  };
}

let terminals = 0;

/** The terminal exists a moment after the command was started: a size that comes before that waits for it. */
function resizer(device: string, ended: Promise<unknown>): (rows: number, cols: number) => void {
  let size: readonly string[] = [];
  const apply = () => {
    const path = existsSync(device) ? readFileSync(device, 'utf8').trim() : '';
    if (path === '' || size.length === 0) return;
    spawn('stty', ['-F', path, ...size]).on('error', () => {});
    size = [];
  };
  const timer = setInterval(apply, 10);
  void ended.finally(() => clearInterval(timer));
  return (rows, cols) => {
    size = ['rows', String(rows), 'cols', String(cols)];
  };
}

function startCommand({
  folder,
  options,
  signal,
  running,
}: {
  folder: string;
  options: ExecOptions;
  signal: AbortSignal;
  running: Set<ChildProcess>;
}): RunningCommand {
  const { argv, tty, hasStdin } = options;
  const device = join(folder, `.tty-${++terminals}`);
  const quoted = argv.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
  const terminal = `stty rows ${tty?.rows} cols ${tty?.cols}; tty > ${device}; exec ${quoted}`;
  const [program = '', ...args] = tty ? ['script', '-qefc', terminal, '/dev/null'] : argv;
  const child: ChildProcessWithoutNullStreams = spawn(program, args, { cwd: folder, detached: true });
  running.add(child);
  if (!hasStdin) child.stdin.end();
  const stop = () => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
  };
  signal.addEventListener('abort', stop, { once: true });
  const ended = new Promise<{ exitCode: number }>((resolve) => {
    child.on('error', (error: NodeJS.ErrnoException) => {
      running.delete(child);
      resolve({ exitCode: error.code === 'ENOENT' ? 127 : 126 });
    });
    child.on('close', (code, by) => {
      running.delete(child);
      signal.removeEventListener('abort', stop);
      resolve({ exitCode: code ?? (by === 'SIGKILL' ? 137 : 1) });
    });
  });
  const resize = resizer(device, ended);
  // A child's own streams are emptied when it ends, read or not.
  return { stdin: child.stdin, stdout: child.stdout.pipe(new PassThrough()), stderr: child.stderr.pipe(new PassThrough()), resize, ended };
}

function attachTo(path: string, signal: AbortSignal): AttachedOutput {
  const stdout = logStream(path, { tailLines: 0, follow: true, timestamps: false }, signal);
  const ended = new Promise<{ exitCode: number }>((resolve) => stdout.on('close', () => resolve({ exitCode: 0 })));
  return { stdout, stderr: Readable.from([]), resize: () => {}, ended };
}

/** The lines of the file that are asked for, then those that are added. */
function logStream(path: string, query: LogQuery, signal: AbortSignal): Readable {
  const out = new PassThrough();
  let at = existsSync(path) ? statSync(path).size : 0;
  const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
  out.write(shown(text.split('\n').slice(0, -1), query));
  if (!query.follow) return out.end();
  const more = () => {
    const bytes = readFileSync(path);
    if (bytes.length > at)
      out.write(shown(bytes.toString('utf8', at).split('\n').slice(0, -1), { ...query, tailLines: Number.MAX_SAFE_INTEGER }));
    at = bytes.length;
  };
  const watcher = watch(path, more);
  const end = () => {
    watcher.close();
    out.end();
  };
  signal.addEventListener('abort', end, { once: true });
  out.on('close', () => watcher.close());
  if (signal.aborted) end();
  return out;
}

function shown(lines: readonly string[], { tailLines, sinceMs = 0, timestamps, limitBytes }: LogQuery): string {
  const recent = lines.filter((line) => Date.parse(line.slice(0, line.indexOf(' '))) >= sinceMs);
  const last = tailLines === undefined ? recent : recent.slice(Math.max(0, recent.length - tailLines));
  const text = last.map((line) => `${timestamps ? line : line.slice(line.indexOf(' ') + 1)}\n`).join('');
  return limitBytes === undefined ? text : text.slice(0, limitBytes);
}

export interface AgentServer {
  readonly io: FakeAgentIo;
  readonly home: string;
  readonly kubeconfig: string;
  readonly server: Server;
  readonly tokens: TokenStore;
  readonly client: Client;
  /** An Agent that is ready, of the team `crew`. */
  addAgent(name: string, namespace?: string): Promise<Agent>;
  setPhase(name: string, phase: AgentPhase): Promise<void>;
  /** As when a token is revoked. */
  endStreams(user: string): void;
  close(): Promise<void>;
}

type AgentPhase = NonNullable<NonNullable<Agent['status']>['phase']>;

/** The API in this process, over a store in memory and agents that are folders. */
export async function serveAgents(folder: string): Promise<AgentServer> {
  const home = join(folder, 'home');
  const access = join(home, 'access');
  mkdirSync(access, { recursive: true });
  const log = silentLogger;
  const store = memoryStore({ kinds, admission });
  const stopping = new AbortController();
  const client = localClient(store);
  await followNamespaces(client, ['Agent', 'Team', 'Task'], { signal: stopping.signal, log });
  const tls = await ensureCertificates({ dir: access, now: new Date(), hosts: ['127.0.0.1'] });
  const tokens = await TokenStore.open(access);
  const io = fakeAgentIo(join(folder, 'agents'));
  const api = createApi({ store, log, tokens, agentIo: io, nodeName: 'here', health: { checks: {} }, metrics: () => '' });
  const doors = await openDoors({
    api,
    log,
    tls,
    host: '127.0.0.1',
    portFile: join(home, 'port'),
    socketPath: join(home, 'agentiso.sock'),
    socketIdentity: personIdentity('admin', 'admin'),
  });
  const kubeconfig = join(home, 'kubeconfig');
  await writeKubeconfig(kubeconfig, kubeconfigText({ server: doors.url, caPem: tls.caPem, token: tokens.adminToken }));
  const setPhase = async (name: string, phase: AgentPhase, namespace = 'default') => {
    const agent = (await client.get<Agent>({ kind: 'Agent', namespace, name })) as Agent;
    const now = new Date().toISOString();
    const isReady = phase === 'Ready' || phase === 'Working';
    const ready = { type: 'Ready', status: isReady ? 'True' : 'False', reason: phase, message: '', lastTransitionTime: now } as const;
    await client.updateStatus({ ...agent, status: { phase, startedAt: now, ip: '10.99.0.2', restarts: 1, conditions: [ready] } });
  };
  return {
    io,
    home,
    kubeconfig,
    server: readKubeconfig(kubeconfig),
    tokens,
    client,
    setPhase,
    endStreams: (user) => api.endWatches(user),
    async addAgent(name, namespace = 'default') {
      const spec = { team: 'crew' } as Agent['spec'];
      const agent = await client.create({
        apiVersion: API_VERSION,
        kind: 'Agent',
        metadata: { name, namespace, labels: { app: name } },
        spec,
      } as unknown as Agent);
      await setPhase(name, 'Ready', namespace);
      return agent as Agent;
    },
    async close() {
      await doors.close();
      stopping.abort();
    },
  };
}
