/** A real API on a socket with real mail, vault, task book and repositories, and tools called as a client calls them. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DEFAULT_LIMITS } from '#api/limits.ts';
import type { Agent, Task } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import type { Connection } from '#client/connection.ts';
import { remoteClient } from '#client/remote.ts';
import { socketConnection } from '#client/socket-connection.ts';
import { openTeamRepositories } from '#git/open-team-repositories.ts';
import type { TeamRepositories } from '#git/team-repository.ts';
import { silentLogger } from '#lib/log.ts';
import { openMail } from '#mail/open-mail.ts';
import { createPost } from '#relay/create-post.ts';
import { createRates } from '#relay/create-rates.ts';
import type { Post } from '#relay/post.ts';
import { createApi } from '#server/api.ts';
import { personIdentity } from '#server/auth/identity.ts';
import { openVault } from '#vault/open-vault.ts';
import type { Vault } from '#vault/vault.ts';
import { taskBoards } from '../../../controllers/task/boards.ts';
import { createTaskBook } from '../../../controllers/task/book.ts';
import { bench } from '../../../test/support/controllers.ts';
import { createMergeDesk } from '../../daemon/desks/merge-desk.ts';
import { createMessageDesk } from '../../daemon/desks/message-desk.ts';
import { createRescueDesk } from '../../daemon/desks/rescue-desk.ts';
import { createVaultDesk } from '../../daemon/desks/vault-desk.ts';
import { callTool } from '../call-tool.ts';
import type { ToolCall } from '../tool.ts';
import { workTools } from '../work-tools.ts';
import type { WorkspaceIo } from '../workspace-io.ts';

type Fields = Record<string, unknown>;
/** The answer, or the refusal. */
export interface Answered {
  readonly answer?: Fields;
  readonly error?: { readonly code: string; readonly message: string; readonly hint: string; readonly field?: string };
  /** What stands before it. */
  readonly notes: readonly string[];
}

export interface WorkBench {
  readonly folder: string;
  /** Behind the API's back. */
  readonly client: Client;
  readonly post: Post;
  readonly vault: Vault;
  readonly repositories: TeamRepositories;
  readonly progress: string[];
  /** As an admin, over the API. */
  readonly toolCall: ToolCall;
  call(tool: string, input: Fields, options?: { readonly signal?: AbortSignal; readonly role?: 'admin' | 'viewer' }): Promise<Answered>;
  /** The answer; throws for a refusal. */
  answer(tool: string, input: Fields): Promise<Fields>;
  setTask(name: string, status: Task['status']): Promise<void>;
  end(): Promise<void>;
}

export async function openWorkBench(): Promise<WorkBench> {
  const folder = mkdtempSync(join(tmpdir(), 'agentiso-work-'));
  const { client, store, ctx } = bench();
  await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default', namespace: '' } } as never);
  const mail = openMail({ directory: join(folder, 'mail'), log: silentLogger });
  const vault = await openVault({ home: folder, log: silentLogger });
  const repositories = await openTeamRepositories(folder);
  const agentByUid = (uid: string) => store.list('Agent').items.find(({ metadata }) => metadata.uid === uid) as Agent | undefined;
  const post = createPost({ client, mail, agentByUid });
  const taskBook = createTaskBook({ client, boards: taskBoards(client), events: ctx.events, canVerify: false, now: ctx.now });
  const api = createApi({
    store,
    log: silentLogger,
    limits: DEFAULT_LIMITS,
    tokens: { identityOf: (token) => (token === 'admin' || token === 'viewer' ? personIdentity(token, `an-${token}`) : undefined) },
    health: { checks: {} },
    metrics: () => '',
    desks: {
      messages: createMessageDesk({ post, taskBook }),
      vault: createVaultDesk(vault),
      merges: createMergeDesk({ client, now: ctx.now }),
      rescue: createRescueDesk(repositories),
    },
  });
  const server = createServer((request, response) => api.handle(request, response, {}));
  const socketPath = join(folder, 'api.sock');
  await new Promise<void>((resolve) => void server.listen(socketPath, resolve));
  const connection = socketConnection({ name: 'the test', socketPath });
  const progress: string[] = [];
  const calls = {
    tools: new Map(workTools.map((tool) => [tool.name, tool])),
    rates: createRates(),
    audit: { record() {} },
    log: silentLogger,
    workspaces: folderWorkspaces(folder),
    homes: [folder],
  };
  const call: WorkBench['call'] = async (name, input, { signal = new AbortController().signal, role = 'admin' } = {}) => {
    const request = { name, arguments: input, signal, progress: { tell: (message: string) => void progress.push(message), end() {} } };
    const result = await callTool(calls, { caller: { user: `an-${role}`, role }, connection: as(connection, role) }, request);
    const texts = result.content.map(({ text }) => text);
    const last = JSON.parse(texts.at(-1) ?? 'null');
    if (result.isError) return { ...last, notes: texts.slice(0, -1) };
    // As a client checks it: what the schema does not know is not there.
    const declared = calls.tools.get(name)?.output(last, 'the answer');
    if (JSON.stringify(sorted(declared)) !== JSON.stringify(sorted(last))) throw new Error(`${name} answers more than it declares`);
    return { answer: last, notes: texts.slice(0, -1) };
  };
  const asked = as(connection, 'admin');
  const toolCall: ToolCall = {
    caller: { user: 'an-admin', role: 'admin' },
    connection: asked,
    client: remoteClient(asked),
    workspaces: calls.workspaces,
    signal: new AbortController().signal,
    progress: (message) => void progress.push(message),
    charge() {},
    admitWorkspaces() {},
  };
  return {
    folder,
    toolCall,
    client,
    post,
    vault,
    repositories,
    progress,
    call,
    async answer(tool, input) {
      const { answer, error } = await call(tool, input);
      if (!answer) throw new Error(`${tool} was refused: ${JSON.stringify(error)}`);
      return answer;
    },
    async setTask(name, status) {
      const task = await client.get<Task>({ kind: 'Task', namespace: 'default', name });
      await client.updateStatus<Task>({ ...task, status: { ...task.status, ...status } });
    },
    async end() {
      api.endWatches();
      connection.close();
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
      await vault.close();
      await mail.close();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function as(connection: Connection, role: string): Connection {
  return {
    ...connection,
    request: (request) => connection.request({ ...request, headers: { ...request.headers, authorization: `Bearer ${role}` } }),
  };
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, each]) => [key, sorted(each)]),
  );
}

/** The workspace of an agent is the folder with its name. */
function folderWorkspaces(folder: string): WorkspaceIo {
  const io: Pick<WorkspaceIo, 'exec' | 'writeFile'> = {
    async exec({ agent }, { argv = [] }) {
      const [file = '', ...args] = argv;
      const run = promisify(execFile)(file, args, { cwd: join(folder, agent) });
      const done = await run.then(
        ({ stdout, stderr }) => ({ exitCode: 0, stdout, stderr }),
        ({ code, stdout, stderr }) => ({ exitCode: Number(code), stdout: String(stdout), stderr: String(stderr) }),
      );
      return { ...done, stdoutTruncated: false, stderrTruncated: false, timedOut: false, elapsedMs: 1 };
    },
    async writeFile({ agent }, { path, content }) {
      writeFileSync(join(folder, agent, path), content);
    },
  };
  return io as WorkspaceIo;
}
