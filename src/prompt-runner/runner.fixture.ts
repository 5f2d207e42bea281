/** The runner and an agent, both as real processes, with a stand-in for the guest: its socket, and a `team` that speaks MCP. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type PromptOutcome, promptOutcome, type RunnerJob } from '#protocol/prompt.ts';
import { bundleAcpAgent, bundleRunner } from '../../test/support/acp-agent/bundle.ts';

/** Answers as an MCP server with one tool would, and writes down what it was called with. */
const TEAM = `#!/usr/bin/env node
const { appendFileSync } = require('node:fs');
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (method === 'tools/call') appendFileSync(process.env.AGENTISO_SOCKET + '.calls', JSON.stringify(params) + '\\n');
  const result = method === 'initialize'
    ? { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'team', version: '1' } }
    : { content: [{ type: 'text', text: 'noted' }] };
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
});
`;

export interface Asked {
  readonly verb: string;
  // biome-ignore lint/suspicious/noExplicitAny: params of every verb, looked at by assertions
  readonly params: any;
}

export interface RunnerRun {
  readonly child: ChildProcess;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** When it has ended. */
  readonly ended: Promise<{ readonly code: number | null; readonly outcome: PromptOutcome }>;
}

export class RunnerLab {
  readonly folder = mkdtempSync(join(tmpdir(), 'agentiso-runner-'));
  readonly workspace = join(this.folder, 'workspace');
  readonly home = join(this.folder, 'home');
  readonly transcriptFile = join(this.folder, 'transcript.jsonl');
  readonly asked: Asked[] = [];
  /** What the guest says to a verb. */
  answers: Record<string, (params: Asked['params']) => object> = {};
  readonly #children = new Set<ChildProcess>();
  #server: Server | undefined;
  #runner = '';

  async open(): Promise<void> {
    for (const path of [this.workspace, this.home, join(this.folder, 'tools', 'acp')]) mkdirSync(path, { recursive: true });
    writeFileSync(join(this.folder, 'team'), TEAM);
    chmodSync(join(this.folder, 'team'), 0o755);
    const [runner, agent] = await Promise.all([bundleRunner(this.folder), bundleAcpAgent(this.folder)]);
    this.#runner = runner;
    const custom = { argv: [process.execPath, agent], env: {}, mode: 'free', readyAfterMs: 0, loadsSessions: true };
    writeFileSync(join(this.folder, 'tools', 'acp', 'agent.json'), JSON.stringify(custom));
    this.#server = createServer((request, response) => {
      void (async () => {
        const chunks: Buffer[] = [];
        for await (const chunk of request) chunks.push(chunk);
        const verb = request.url?.slice(1) ?? '';
        const params = JSON.parse(Buffer.concat(chunks).toString());
        this.asked.push({ verb, params });
        const usual: object = verb === 'sendMessage' ? { message_id: 'asked-1', state: 'Accepted' } : { messages: [] };
        response.end(JSON.stringify(this.answers[verb]?.(params) ?? usual));
      })();
    });
    this.#server.listen(join(this.folder, 'agent.sock'));
    await once(this.#server, 'listening');
  }

  start(job: Partial<RunnerJob> & Pick<RunnerJob, 'text'>): RunnerRun {
    const file = (name: string) => join(this.folder, name);
    const whole: RunnerJob = {
      ...{ backend: 'acp', mode: 'acp', rules: [{ action: 'allow' }], taskName: 'try-it', attempt: 1, unread: '', unreadIds: [] },
      ...{ workspace: this.workspace, home: this.home, socket: file('agent.sock'), team: file('team'), node: process.execPath },
      ...{
        transcript: this.transcriptFile,
        outcome: file('outcome.json'),
        sessionFile: file('session'),
        startPausesMs: [10, 10],
      },
      ...job,
    };
    rmSync(whole.outcome, { force: true });
    rmSync(whole.transcript, { force: true });
    writeFileSync(file('job.json'), JSON.stringify(whole));
    // biome-ignore lint/style/noProcessEnv: where programs are on this machine
    const env = { PATH: process.env['PATH'], AGENTISO_TOOLS: file('tools') };
    const child = spawn(process.execPath, [this.#runner, file('job.json')], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#children.add(child);
    const texts = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) child[name]?.on('data', (chunk) => (texts[name] += String(chunk)));
    const ended = once(child, 'close').then(([code]) => {
      this.#children.delete(child);
      if (!existsSync(whole.outcome)) throw new Error(`no outcome: ${texts.stderr}`);
      return { code: code as number | null, outcome: promptOutcome(JSON.parse(readFileSync(whole.outcome, 'utf8')), 'outcome') };
    });
    return { child, stdout: () => texts.stdout, stderr: () => texts.stderr, ended };
  }

  transcript(): { readonly type: string; readonly text: string; readonly [field: string]: unknown }[] {
    const lines = readFileSync(this.transcriptFile, 'utf8').trimEnd().split('\n');
    return lines.map((line) => JSON.parse(line));
  }

  mcpCalls(): string {
    const path = join(this.folder, 'agent.sock.calls');
    return existsSync(path) ? readFileSync(path, 'utf8') : '';
  }

  close(): void {
    for (const child of this.#children) child.kill('SIGKILL');
    this.#server?.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
