/** Starts the agent of a run and ends it: its home, its environment, its session, three tries. At most one process at a time. */
import { writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { AcpContext, Backend, CustomAgent, Launch, McpServer } from '#backends/backend.ts';
import { environmentOf } from '#backends/environment.ts';
import { writeHome } from '#backends/write-home.ts';
import type { RunnerJob } from '#protocol/prompt.ts';
import { type AcpSession, openSession, type SessionStart } from './acp-session.ts';
import { AgentProcess } from './agent-process.ts';
import { RunFailure, toFailure } from './failure.ts';
import { checkMcp } from './mcp-check.ts';
import { retryTime } from './rate-limit.ts';

export interface AgentHostParts extends Pick<SessionStart, 'onUpdate' | 'onPermission'> {
  readonly job: RunnerJob;
  readonly backend: Backend;
  /** The tool directory. */
  readonly tools: string;
  /** Of the backend acp, where it is configured. */
  readonly custom: CustomAgent | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborted: somebody wants the run to end. */
  readonly signal: AbortSignal;
  readonly complain: (chunk: Buffer) => void;
  readonly now: () => Date;
  readonly note: (reason: string, message: string) => void;
}

/** Where every sandbox has its proxy. */
const PROVIDERS_URL = 'http://127.0.0.1:3128/agentiso/providers';
const START_PAUSES_MS = [5_000, 60_000];
/** For an agent that ends by itself when its input does. */
const EXIT_PATIENCE_MS = 1_000;

export class AgentHost {
  readonly #parts: AgentHostParts;
  #agent: AgentProcess | undefined;
  #session: AcpSession | undefined;

  constructor(parts: AgentHostParts) {
    this.#parts = parts;
  }

  get sessionId(): string | undefined {
    return this.#session?.id;
  }

  /** A provider that wants no more is no fault of the agent's, and a program that is not there does not come by waiting. */
  async openSession(lastSession: string | undefined): Promise<AcpSession> {
    const { job, signal, now, note } = this.#parts;
    await this.checkTools();
    const pausesMs = [...(job.startPausesMs ?? START_PAUSES_MS)];
    for (let tries = 1; ; tries += 1) {
      const opened = await this.#open(lastSession).catch(toFailure);
      if (!(opened instanceof RunFailure)) return opened;
      await this.end();
      if (signal.aborted || isFinal(opened, now())) throw opened;
      const pauseMs = pausesMs.shift();
      if (pauseMs === undefined) throw new RunFailure('BackendFailed', `${tries} tries; last: ${opened.message}`, opened);
      note('StartFailed', `${opened.message}; tried again in ${pauseMs / 1_000} s`);
      await delay(pauseMs, undefined, { signal }).catch(() => {});
      if (signal.aborted) throw opened;
    }
  }

  async start(launch: Launch): Promise<AgentProcess> {
    const { job, env, complain } = this.#parts;
    await writeHome(job.home, launch.files);
    const environment = environmentOf({ inherited: env, home: job.home, launch });
    const start = { launch, env: environment, cwd: job.workspace, groupsFd: job.groupsFd, onStderr: complain };
    this.#agent = await AgentProcess.start(start);
    return this.#agent;
  }

  /** Rejects with McpUnavailable: no agent starts without the tools of its team. */
  checkTools(): Promise<void> {
    return checkMcp(this.mcpServer, this.#parts.env['PATH']);
  }

  /** The turn that runs is called off, then the process ended. */
  async cancel(): Promise<void> {
    await this.#session?.cancel();
    await this.end();
  }

  async end(): Promise<void> {
    const agent = this.#agent;
    this.#agent = undefined;
    if (agent) await agent.end(this.#parts.backend.acp?.quirks.exitsOnStdinClose === false ? 0 : EXIT_PATIENCE_MS);
  }

  get context(): AcpContext {
    const { job, backend, tools, custom, env } = this.#parts;
    const provider = job.provider ?? backend.model?.provider ?? backend.name;
    return {
      tools,
      home: job.home,
      workspace: job.workspace,
      baseUrl: `${env['AGENTISO_PROVIDERS_URL'] ?? PROVIDERS_URL}/${provider}`,
      ...(job.model !== undefined && { model: job.model }),
      permissions: allowsEverything(job) ? 'allow' : 'ask',
      ...(custom && { custom }),
    };
  }

  get mcpServer(): McpServer {
    const { socket, team, node } = this.#parts.job;
    return { name: 'agentiso', command: team, args: ['mcp'], env: { AGENTISO_SOCKET: socket, AGENTISO_NODE: node } };
  }

  async #open(lastSession: string | undefined): Promise<AcpSession> {
    const { job, backend, custom, onUpdate, onPermission } = this.#parts;
    if (backend.acp === undefined) throw new RunFailure('BackendMissing', `${backend.name} has no sessions`);
    const { context } = this;
    const agent = await this.start(backend.acp.launch(context));
    const mode = backend.acp.mode(context);
    const { readyAfterMs, loadsSessions } = { ...backend.acp.quirks, ...custom };
    const ways = { readyAfterMs, mode, lastSession: loadsSessions ? lastSession : undefined };
    this.#session = await openSession({ agent, workspace: job.workspace, mcpServer: this.mcpServer, ...ways, onUpdate, onPermission });
    // For the next attempt, should this one be cut off.
    if (job.sessionFile !== undefined) writeFileSync(job.sessionFile, this.#session.id, { mode: 0o600 });
    return this.#session;
  }
}

function isFinal({ code, message }: RunFailure, now: Date): boolean {
  return code === 'BackendMissing' || retryTime(message, now) !== undefined;
}

function allowsEverything({ rules: [first] }: RunnerJob): boolean {
  return first?.action === 'allow' && Object.keys(first).length === 1;
}
