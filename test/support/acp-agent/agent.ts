/**
 * A coding agent without a model, on the real protocol: what it does is written in its prompt, as JSON steps in a fenced block `script`. It
 * calls the MCP server that it was given, writes files, asks for permission, reports what it costs, hangs, crashes, and is told to wait.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import * as acp from '@agentclientprotocol/sdk';

type Step =
  | { readonly op: 'say'; readonly text: string }
  | { readonly op: 'write'; readonly path: string; readonly content: string; readonly ask?: boolean }
  | { readonly op: 'run'; readonly command: string; readonly ask?: boolean }
  | { readonly op: 'mcp'; readonly tool: string; readonly args?: object }
  | { readonly op: 'usage'; readonly used: number; readonly costUsd: number }
  | { readonly op: 'hang' }
  | { readonly op: 'crash'; readonly message: string }
  | { readonly op: 'fail'; readonly message: string; readonly data?: unknown }
  /** As `fail`, for as long as a file is not there. */
  | { readonly op: 'failUntil'; readonly path: string; readonly message: string; readonly data?: unknown }
  /** The same for ever, until it is told to stop; then it stops, or ends. */
  | { readonly op: 'again'; readonly step: Step; readonly crashes?: boolean }
  /** Waits until a file is there. */
  | { readonly op: 'until'; readonly path: string }
  | { readonly op: 'stop'; readonly reason: acp.StopReason };

interface Session {
  readonly cwd: string;
  readonly mcp: McpClient | undefined;
  controller: AbortController;
  mode: string;
  calls: number;
}

/** What it remembers from one process to the next. */
const MEMORY = join(process.env['HOME'] ?? '/tmp', '.acp-agent');
const sessions = new Map<string, Session>();

class McpClient {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (answer: unknown) => void>();
  #lastId = 0;

  constructor({ command, args, env }: acp.McpServerStdio) {
    const variables = Object.fromEntries(env.map(({ name, value }) => [name, value]));
    this.#child = spawn(command, args, { env: { PATH: process.env['PATH'] ?? '', ...variables }, stdio: ['pipe', 'pipe', 'inherit'] });
    createInterface({ input: this.#child.stdout as Readable }).on('line', (line) => {
      const { id, result, error } = JSON.parse(line) as { id?: number; result?: unknown; error?: unknown };
      if (id !== undefined) this.#waiting.get(id)?.(result ?? error);
    });
  }

  async begin(): Promise<void> {
    await this.ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'acp-agent', version: '1' } });
    this.#child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
  }

  ask(method: string, params: object): Promise<unknown> {
    this.#lastId += 1;
    const id = this.#lastId;
    this.#child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    return new Promise((done) => this.#waiting.set(id, done));
  }
}

async function open(id: string, { cwd, mcpServers }: Pick<acp.NewSessionRequest, 'cwd' | 'mcpServers'>): Promise<void> {
  const [server] = mcpServers;
  const mcp = server !== undefined && 'command' in server ? new McpClient(server) : undefined;
  await mcp?.begin();
  sessions.set(id, { cwd, mcp, controller: new AbortController(), mode: 'ask', calls: 0 });
}

/** Of the prompt, or of the last one that had any: who is told to go on goes on with the same. */
function stepsOf(text: string, sessionId: string): readonly Step[] {
  const memory = join(MEMORY, sessionId);
  const found = /```script\n([\s\S]*?)\n```/.exec(text)?.[1];
  mkdirSync(MEMORY, { recursive: true });
  appendFileSync(`${memory}.prompts`, `${JSON.stringify(text)}\n`);
  if (found !== undefined) writeFileSync(memory, found);
  return existsSync(memory) ? (JSON.parse(readFileSync(memory, 'utf8')) as Step[]) : [];
}

const MODES = { currentModeId: 'ask', availableModes: ['ask', 'free'].map((id) => ({ id, name: id })) };

const connection = acp
  .agent({ name: 'acp-agent' })
  .onRequest(acp.methods.agent.initialize, async () => {
    // So many starts fail, where somebody has said how many.
    const failing = join(MEMORY, 'failing-starts');
    const left = existsSync(failing) ? Number(readFileSync(failing, 'utf8')) : 0;
    if (left > 0) {
      writeFileSync(failing, String(left - 1));
      process.stderr.write('cannot start today\n');
      process.exit(3);
    }
    return { protocolVersion: acp.PROTOCOL_VERSION, agentCapabilities: { loadSession: true } };
  })
  .onRequest(acp.methods.agent.session.new, async ({ params }) => {
    const sessionId = `session-${process.pid}-${Date.now()}`;
    await open(sessionId, params);
    return { sessionId, modes: MODES };
  })
  .onRequest(acp.methods.agent.session.load, async ({ params }) => {
    if (!existsSync(join(MEMORY, params.sessionId))) throw acp.RequestError.invalidParams();
    await open(params.sessionId, params);
    return { modes: MODES };
  })
  .onRequest(acp.methods.agent.session.setMode, async ({ params }) => {
    const session = sessions.get(params.sessionId);
    if (session) session.mode = params.modeId;
    return {};
  })
  .onNotification(acp.methods.agent.session.cancel, async ({ params }) => sessions.get(params.sessionId)?.controller.abort())
  .onRequest(acp.methods.agent.session.prompt, async ({ params, client }) => {
    const session = sessions.get(params.sessionId);
    if (!session) throw acp.RequestError.invalidParams();
    session.controller = new AbortController();
    const text = params.prompt.map((block) => (block.type === 'text' ? block.text : '')).join('');
    const turn = new Turn(session, params.sessionId, client);
    for (const step of stepsOf(text, params.sessionId)) {
      if (session.controller.signal.aborted) return { stopReason: 'cancelled' };
      const reason = await turn.play(step);
      if (reason !== undefined) return { stopReason: reason, usage: { inputTokens: 100, outputTokens: 20, totalTokens: 120 } };
    }
    const stopReason: acp.StopReason = session.controller.signal.aborted ? 'cancelled' : 'end_turn';
    return { stopReason, usage: { inputTokens: 100, outputTokens: 20, totalTokens: 120 } };
  })
  .connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>));
void connection.closed.then(() => process.exit(0));

class Turn {
  readonly #session: Session;
  readonly #id: string;
  readonly #client: acp.AgentContext;

  constructor(session: Session, id: string, client: acp.AgentContext) {
    this.#session = session;
    this.#id = id;
    this.#client = client;
  }

  async play(step: Step): Promise<acp.StopReason | undefined> {
    const { cwd, mcp, controller } = this.#session;
    switch (step.op) {
      case 'say':
        return void (await this.#update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: step.text } }));
      case 'write':
        return this.#tool(`write ${step.path}`, 'edit', { path: step.path }, step.ask === true, async () => {
          const path = resolve(cwd, step.path);
          mkdirSync(dirname(path), { recursive: true });
          writeFileSync(path, step.content);
          return 'written';
        });
      case 'run':
        return this.#tool('run', 'execute', { command: step.command }, step.ask === true, () => run(step.command, cwd));
      case 'mcp':
        return this.#tool(`mcp ${step.tool}`, 'other', step.args ?? {}, false, async () => {
          return JSON.stringify(await mcp?.ask('tools/call', { name: step.tool, arguments: step.args ?? {} }));
        });
      case 'usage':
        return void (await this.#update({
          sessionUpdate: 'usage_update',
          used: step.used,
          size: 200_000,
          cost: { amount: step.costUsd, currency: 'USD' },
        }));
      case 'hang':
        return void (await delay(3_600_000, undefined, { signal: controller.signal }).catch(() => {}));
      case 'again':
        while (!controller.signal.aborted) await this.play(step.step);
        if (step.crashes === true) process.exit(7);
        return undefined;
      case 'until':
        while (!existsSync(resolve(cwd, step.path)) && !controller.signal.aborted) await delay(20);
        return undefined;
      case 'crash':
        process.stderr.write(`${step.message}\n`);
        process.exit(7);
        return undefined;
      case 'fail':
        throw new acp.RequestError(-32603, step.message, step.data);
      case 'failUntil':
        if (!existsSync(resolve(cwd, step.path))) throw new acp.RequestError(-32603, step.message, step.data);
        return undefined;
      case 'stop':
        return step.reason;
    }
  }

  async #tool(title: string, kind: acp.ToolKind, rawInput: object, asks: boolean, work: () => Promise<string>): Promise<undefined> {
    this.#session.calls += 1;
    const toolCallId = `call-${this.#session.calls}`;
    if (asks && !(await this.#ask({ toolCallId, title, kind, rawInput }))) {
      await this.#update({ sessionUpdate: 'tool_call_update', toolCallId, status: 'failed' });
      return undefined;
    }
    await this.#update({ sessionUpdate: 'tool_call', toolCallId, title, kind, rawInput, status: 'in_progress' });
    const text = await work();
    const content = [{ type: 'content' as const, content: { type: 'text' as const, text } }];
    await this.#update({ sessionUpdate: 'tool_call_update', toolCallId, status: 'completed', content });
    return undefined;
  }

  /** The ids say the opposite of what they mean: only their kinds do not. */
  async #ask(toolCall: acp.ToolCallUpdate): Promise<boolean> {
    const { outcome } = await this.#client.request(acp.methods.client.session.requestPermission, {
      sessionId: this.#id,
      toolCall,
      options: [
        { optionId: 'allow', name: 'No', kind: 'reject_once' },
        { optionId: 'reject', name: 'Yes', kind: 'allow_once' },
      ],
    });
    return outcome.outcome === 'selected' && outcome.optionId === 'reject';
  }

  #update(update: acp.SessionUpdate): Promise<void> {
    return this.#client.notify(acp.methods.client.session.update, { sessionId: this.#id, update });
  }
}

function run(command: string, cwd: string): Promise<string> {
  return new Promise((done) => {
    const child = spawn('/bin/sh', ['-c', command], { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
    child.once('close', (code) => done(`${output}exit ${code}`));
  });
}
