/** MCP over HTTP: which session a request belongs to, whether it is the asker's, and that onto the SDK's transport. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import type { Connection } from '#client/connection.ts';
import { AgentisoError } from '#lib/errors.ts';
import { MAX_MESSAGE_BYTES, RPC_CODES, type RpcFailure, refusal, tooLarge } from '#lib/json-rpc.ts';
import type { AgentCaller } from './agent-mode.ts';
import { answerHttp } from './http-answer.ts';
import { isInitialize, readJson, requestIds } from './http-body.ts';
import { HttpSessions, type KeptSession } from './http-sessions.ts';
import type { Sessions } from './sessions.ts';

export interface HttpCall {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly caller: HttpCaller;
  /** A place among the user's streams. */
  enter(): { readonly signal: AbortSignal; leave(): void };
}

export interface HttpCaller {
  readonly user: string;
  readonly role: 'admin' | 'viewer' | 'agent';
  readonly agent?: AgentCaller;
}

export interface HttpOptions {
  readonly sessions: Sessions;
  /** The API, asked with this header. */
  readonly connect: (authorization: string | undefined) => Connection;
  readonly kept?: HttpSessions;
}

export interface McpHttp {
  serve(call: HttpCall): Promise<void>;
  /** Of one user, or all. */
  end(user?: string): Promise<void>;
}

export function createMcpHttp({ sessions, connect, kept = new HttpSessions() }: HttpOptions): McpHttp {
  const begin = async ({ request, caller }: HttpCall): Promise<KeptSession> => {
    kept.makeRoom(caller.user);
    const { authorization } = request.headers;
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      maxRequestBodySize: MAX_MESSAGE_BYTES,
      onsessioninitialized: () => kept.keep(session),
    });
    const forget = () => kept.forget(session);
    const opened =
      caller.role === 'agent'
        ? await sessions.openAgent(transport, agentOf(caller), forget)
        : await sessions.openOperator(transport, { user: caller.user, role: caller.role }, connect(authorization), forget);
    const session: KeptSession = { user: caller.user, authorization, transport, close: opened.close };
    return session;
  };

  const forPost = async (call: HttpCall): Promise<Found> => {
    const body = await readJson(call.request);
    if ('problem' in body) return BAD_BODIES[body.problem];
    const isFirst = isInitialize(body.value) && call.request.headers['mcp-session-id'] === undefined;
    const session = isFirst ? await begin(call) : known(call);
    return 'status' in session ? session : { session, body: body.value };
  };

  const known = ({ request: { headers }, caller }: HttpCall): KeptSession | Refused => {
    const id = headers['mcp-session-id'];
    if (typeof id !== 'string') return refused(400, 'the header Mcp-Session-Id is needed; initialize gives it');
    // Another's session is not there, as one that is over.
    const session = kept.find(id);
    const isOwn = session?.user === caller.user && session.authorization === headers.authorization;
    return isOwn && session ? session : { ...refused(404, 'there is no such session; initialize a new one'), code: SESSION_NOT_FOUND };
  };

  /** Resolves when the answer is over. */
  const pass = async (call: HttpCall, { session, body }: Passed): Promise<void> => {
    const { request, response } = call;
    const leave = request.method === 'GET' ? stream(call, session) : () => {};
    const done = kept.use(session);
    try {
      if (request.method === 'POST') cancelWhenGone(response, session, body);
      await answerHttp(session.transport, call, body);
    } finally {
      leave();
      done();
    }
  };

  return {
    async serve(call) {
      const { request, response, caller } = call;
      if (caller.role === 'agent' && !sessions.hasAgentMode) throw noAgentMode();
      if (!METHODS.includes(request.method ?? '')) return refuse(response, refused(405, 'POST, GET and DELETE are served here'));
      const found = request.method === 'POST' ? await forPost(call) : foundOrRefused(known(call));
      if ('status' in found) refuse(response, found);
      else await pass(call, found);
    },
    async end(user) {
      await kept.end(user);
    },
  };
}

const METHODS = ['POST', 'GET', 'DELETE'];
const SESSION_NOT_FOUND = -32001;

interface Refused extends RpcFailure {
  readonly status: number;
}

interface Passed {
  readonly session: KeptSession;
  readonly body?: unknown;
}

type Found = Refused | Passed;

function foundOrRefused(session: KeptSession | Refused): Found {
  return 'status' in session ? session : { session };
}

function refused(status: number, message: string): Refused {
  return { status, code: RPC_CODES.unavailable, message };
}

const BAD_BODIES: Readonly<Record<'too large' | 'no JSON' | 'cut off', Refused>> = {
  'too large': { status: 413, ...tooLarge() },
  'no JSON': { status: 400, code: RPC_CODES.parseError, message: 'the body is not JSON' },
  'cut off': refused(400, 'the request ended before its body did'),
};

function refuse(response: ServerResponse, { status, ...failure }: Refused): void {
  const body = JSON.stringify(refusal(null, failure));
  const allow = status === 405 ? { Allow: METHODS.join(', ') } : {};
  response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body), ...allow });
  response.end(body);
}

/** A stream of notices counts among the streams of its user. */
function stream({ enter }: HttpCall, { transport }: KeptSession): () => void {
  const place = enter();
  place.signal.addEventListener('abort', () => transport.closeStandaloneSSEStream(), { once: true });
  return place.leave;
}

/** Nothing here gives an answer a second time: whoever hangs up takes the call back. */
function cancelWhenGone(response: ServerResponse, { transport }: KeptSession, body: unknown): void {
  response.once('close', () => {
    if (response.writableFinished) return;
    for (const requestId of requestIds(body)) {
      transport.onmessage?.({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } });
    }
  });
}

function agentOf({ agent, user }: HttpCaller): AgentCaller {
  if (!agent) throw new AgentisoError('Internal', `${user} is no agent`);
  return agent;
}

function noAgentMode(): AgentisoError {
  return new AgentisoError('Forbidden', 'an agent has its MCP server in its own workspace, and none here', {
    hint: 'run "team mcp" in the workspace',
  });
}
