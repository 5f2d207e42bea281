/** One session of the Agent Client Protocol, in one process of its own: opened with the tools of the team, prompted, cancelled, ended. */
import { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import * as acp from '@agentclientprotocol/sdk';
import type { AgentProcess } from './agent-process.ts';
import { RunFailure } from './failure.ts';
import { type Fields, fieldsIn, isFields, textIn } from './loose.ts';
import { within } from './within.ts';

/** Of each of the two steps of a start. */
export const START_LIMIT_MS = 30_000;
/** For an agent that was asked to stop to say that it has. */
const CANCEL_LIMIT_MS = 1_000;
const EXIT_LIMIT_MS = 2_000;

export interface McpServerEntry {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface SessionStart {
  readonly agent: AgentProcess;
  /** For the tools of the team to arrive at an agent that connects them behind our back. */
  readonly readyAfterMs: number;
  readonly workspace: string;
  readonly mcpServer: McpServerEntry;
  readonly mode: string | undefined;
  /** To go on with, where the agent can. */
  readonly lastSession: string | undefined;
  readonly onUpdate: (update: unknown) => void;
  /** Gives the id of the option that is chosen; undefined: none. */
  readonly onPermission: (toolCall: unknown, options: readonly Fields[]) => Promise<string | undefined>;
  readonly limitMs?: number;
}

export interface AcpSession {
  readonly id: string;
  /** It goes on where an earlier one was cut off. */
  readonly isLoaded: boolean;
  /** The whole answer to session/prompt. Rejects with AgentCrashed when the process ends, or with what the agent says is wrong. */
  prompt(text: string): Promise<Fields>;
  /** Resolves when the pending prompt has been answered, or will not be: whether it was, and the session can be used again. */
  cancel(limitMs?: number): Promise<boolean>;
}

/** Whatever an agent sends is read by us, field by field: one that says a little more or less is no reason to fail. */
const anything = { parse: (value: unknown): Fields => (isFields(value) ? value : {}) };

export async function openSession(start: SessionStart): Promise<AcpSession> {
  const { agent, workspace, mode, limitMs = START_LIMIT_MS } = start;
  let isReplaying = true;
  const connection = acp
    .client({ name: 'agentiso' })
    .onRequest<Fields, unknown>(acp.methods.client.session.requestPermission, anything, async ({ params }) => {
      const options = Array.isArray(params['options']) ? params['options'].filter(isFields) : [];
      const optionId = await start.onPermission(params['toolCall'], options);
      return { outcome: optionId === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId } };
    })
    .onNotification<Fields>(acp.methods.client.session.update, anything, ({ params }) => {
      // A session that is loaded tells its whole story again.
      if (!isReplaying) start.onUpdate(params['update']);
    })
    .connect(streamOf(agent));
  const request = <T>(method: string, params: object): Promise<T> =>
    Promise.race([connection.agent.request<T>(method, params), crashed(agent, method)]).catch((error: unknown) =>
      explain(error, agent, method),
    );
  const soon = <T>(method: string, params: object): Promise<T> =>
    within(request<T>(method, params), limitMs, () => tooSlow(method, limitMs));

  const greeting = await soon<Fields>(acp.methods.agent.initialize, {
    protocolVersion: acp.PROTOCOL_VERSION,
    clientInfo: { name: 'agentiso', version: '1' },
    // Its own tools write files and run commands: what it does happens in the workspace, with or without us.
    clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
  });
  if (greeting['protocolVersion'] !== acp.PROTOCOL_VERSION) {
    const message = `it speaks version ${String(greeting['protocolVersion'])} of the Agent Client Protocol, not ${acp.PROTOCOL_VERSION}`;
    throw new RunFailure('BackendFailed', message);
  }
  const place = { cwd: workspace, mcpServers: [toEntry(start.mcpServer)] };
  const loaded = canLoad(greeting, start) ? await load(start.lastSession ?? '', place, soon) : undefined;
  const session = loaded ?? (await soon<Fields>(acp.methods.agent.session.new, place));
  const id = textIn(session, 'sessionId');
  if (id === undefined) throw new RunFailure('BackendFailed', 'session/new gave no session');
  if (mode !== undefined) await setMode(session, id, mode, soon);
  await delay(start.readyAfterMs);
  isReplaying = false;
  let pending: Promise<boolean> = Promise.resolve(true);
  return {
    id,
    isLoaded: loaded !== undefined,
    prompt: (text) => {
      const answer = request<Fields>(acp.methods.agent.session.prompt, { sessionId: id, prompt: [{ type: 'text', text }] });
      pending = answer.then(
        () => true,
        () => false,
      );
      return answer;
    },
    cancel: async (limitMs = CANCEL_LIMIT_MS) => {
      await connection.agent.notify(acp.methods.agent.session.cancel, { sessionId: id }).catch(() => {});
      const ended = Promise.race([pending, agent.exited.then(() => false)]);
      return within(ended, limitMs, () => new Error('no answer')).catch(() => false);
    },
  };
}

function streamOf({ child }: AgentProcess): acp.Stream {
  if (!child.stdin || !child.stdout) throw new RunFailure('BackendFailed', 'it has no pipes');
  return acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>);
}

async function crashed(agent: AgentProcess, method: string): Promise<never> {
  const how = await agent.exited;
  const said = agent.lastComplaints;
  throw new RunFailure('AgentCrashed', `${how} during ${method}${said === '' ? '' : `: ${said}`}`);
}

/** An error of the protocol with everything that the agent says about it: a provider's word on limits is in there. */
async function explain(error: unknown, agent: AgentProcess, method: string): Promise<never> {
  if (error instanceof RunFailure) throw error;
  if (error instanceof acp.RequestError) {
    const data = error.data === undefined ? '' : ` ${typeof error.data === 'string' ? error.data : JSON.stringify(error.data)}`;
    throw new RunFailure('AgentError', `${method}: ${error.message}${data}`, error);
  }
  // A connection that closes is mostly the first sign of a process that ends.
  await within(crashed(agent, method), EXIT_LIMIT_MS, () => {
    const why = error instanceof Error ? error.message : String(error);
    return new RunFailure('AgentCrashed', `${method}: ${why}`, error);
  });
  throw error;
}

function tooSlow(method: string, limitMs: number): RunFailure {
  return new RunFailure('BackendFailed', `${method} was not answered within ${limitMs / 1_000} s`);
}

function toEntry({ name, command, args, env }: McpServerEntry) {
  return { name, command, args: [...args], env: Object.entries(env).map(([key, value]) => ({ name: key, value })) };
}

type Soon = <T>(method: string, params: object) => Promise<T>;

function canLoad(greeting: Fields, { lastSession }: SessionStart): boolean {
  return lastSession !== undefined && fieldsIn(greeting, 'agentCapabilities')?.['loadSession'] === true;
}

/** Undefined: it does not know it any more. */
async function load(sessionId: string, place: object, soon: Soon): Promise<Fields | undefined> {
  try {
    return { ...(await soon<Fields>(acp.methods.agent.session.load, { sessionId, ...place })), sessionId };
  } catch (error) {
    if (error instanceof RunFailure && error.code === 'AgentError') return undefined;
    throw error;
  }
}

/** By the list of modes where the agent has one, else by its options. */
async function setMode(session: Fields, sessionId: string, mode: string, soon: Soon): Promise<void> {
  const modes = fieldsIn(session, 'modes')?.['availableModes'];
  const options = session['configOptions'];
  const isListed = Array.isArray(modes) && modes.some((each) => textIn(each, 'id') === mode);
  if (isListed || !Array.isArray(options)) return void (await soon(acp.methods.agent.session.setMode, { sessionId, modeId: mode }));
  await soon(acp.methods.agent.session.setConfigOption, { sessionId, configId: 'mode', value: mode });
}
