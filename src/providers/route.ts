/**
 * The way to a provider: a request of an agent to `/agentiso/providers/NAME/…` goes to that provider with the real key in place of
 * whatever the agent sent, and the answer streams back. The socket it came by says who asks; the Agent's spec says whom it may ask.
 */
import { type ClientRequest, type IncomingMessage, request as requestHttp, type ServerResponse } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { pipeline, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { providerOf } from '#api/agent-provider.ts';
import type { Agent } from '#api/types.ts';
import type { Logger } from '#lib/log.ts';
import type { Metrics } from '#lib/metrics.ts';
import { urlBelow } from './base-url.ts';
import type { CredentialSource } from './credential-file.ts';
import type { Provider } from './credentials.ts';
import { answerHeaders, requestHeaders } from './headers.ts';
import { maskKey } from './mask-key.ts';
import { answerError, type ProviderError } from './provider-error.ts';
import { usageFoldOf } from './usage/protocol-of.ts';
import type { Usage } from './usage/usage.ts';
import { readingUsage, UsageReader } from './usage/usage-reader.ts';

export const PROVIDERS_PATH = '/agentiso/providers/';

export interface ProviderRouteOptions {
  readonly credentials: CredentialSource;
  readonly agentByUid: (uid: string) => Agent | undefined;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, 'counter' | 'histogram'>;
  /** Which Task of the agent a request is for: asked when the request comes. Undefined: none. */
  readonly taskOf?: (agent: Agent) => string | undefined;
  /** What an answer has cost; `taskUid` as it was when the request came. */
  readonly onUsage?: (provider: string, usage: Usage, taskUid: string | undefined) => void;
  readonly nowMs?: () => number;
  readonly limits?: Partial<ProviderLimits>;
}

export interface ProviderLimits {
  /** Until the connection stands. */
  readonly connectMs: number;
  /** Without a byte in either direction: a model may think for long before it says anything. */
  readonly idleMs: number;
}

const LIMITS: ProviderLimits = { connectMs: 15_000, idleMs: 10 * 60_000 };
const MAX_ANSWER_HEAD_BYTES = 64 * 1024;

/** No connection is used twice: one that the other side has just closed would lose a request that cannot be sent again. */
const https = new HttpsAgent({ keepAlive: false });

export type ProviderRoute = (agentId: string, request: IncomingMessage, response: ServerResponse) => void;

/** One request on its way. */
interface Visit {
  readonly agentId: string;
  readonly provider: Provider;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Hears of what a good answer has cost; undefined when it did not say. */
  readonly onUsage: (usage: Usage | undefined) => void;
}

export function providerRoute(options: ProviderRouteOptions): ProviderRoute {
  const { credentials, agentByUid, log, metrics, nowMs = () => performance.now() } = options;
  const limits = { ...LIMITS, ...options.limits };
  const requests = metrics.counter('agentiso_provider_requests_total', 'Requests of agents to providers of models, by answer.');
  const unmetered = metrics.counter(
    'agentiso_provider_unmetered_total',
    'Answers of providers that should have said what they cost, and did not.',
  );
  const durations = metrics.histogram('agentiso_provider_duration_seconds', 'From a request to a provider to the end of its answer.');

  return (agentId, request, response) => {
    const begunMs = nowMs();
    const agent = agentByUid(agentId);
    const asked = parsePath(request.url ?? '');
    // A name that is nobody's is not worth a line of its own in the metrics.
    const label = asked && credentials.names().includes(asked.provider) ? asked.provider : 'other';
    response.once('close', () => {
      const status = response.headersSent ? response.statusCode : 0;
      const durationMs = Math.round(nowMs() - begunMs);
      requests.inc({ provider: label, status: String(status) });
      durations.observe(durationMs / 1_000, { provider: label });
      const isCut = !response.writableFinished;
      log.info(
        { agentId, agent: agent?.metadata.name, provider: asked?.provider, status, durationMs, ...(isCut && { isCut }) },
        'provider request',
      );
    });
    const refused = refusalOf(agent, asked, credentials);
    if ('status' in refused) {
      answerError(response, refused);
      request.resume();
      return;
    }
    const { provider, url } = refused;
    const taskUid = agent && options.taskOf?.(agent);
    const onUsage = (usage: Usage | undefined) => {
      if (usage) options.onUsage?.(provider.name, usage, taskUid);
      else unmetered.inc({ provider: provider.name });
    };
    send({ agentId, request, response, provider, onUsage }, url, { limits, log });
  };
}

interface Asked {
  readonly provider: string;
  readonly path: string;
}

function parsePath(url: string): Asked | undefined {
  const [, provider, path = ''] = /^\/agentiso\/providers\/([a-z][a-z0-9-]{0,62})((?:[/?].*)?)$/s.exec(url) ?? [];
  return provider === undefined ? undefined : { provider, path };
}

/** Where the request goes, or why it does not. */
function refusalOf(
  agent: Agent | undefined,
  asked: Asked | undefined,
  credentials: CredentialSource,
): ProviderError | { readonly provider: Provider; readonly url: URL } {
  if (!agent) return { status: 403, reason: 'AgentGone', message: 'this agent is gone' };
  if (!asked) return { status: 404, reason: 'NotFound', message: `there is nothing here but ${PROVIDERS_PATH}NAME/...` };
  const allowed = providerOf(agent);
  if (asked.provider !== allowed) {
    const may = allowed === undefined ? 'it may use none' : `it may use ${allowed}`;
    const message = `agent ${agent.metadata.name} may not use the provider ${asked.provider}: ${may}, by its backend or its spec.provider`;
    return { status: 403, reason: 'ProviderNotAllowed', message };
  }
  const provider = credentials.provider(asked.provider);
  if (!provider) {
    const problem = credentials.problem();
    const why = problem === undefined ? '' : `; what is configured is refused: ${problem}`;
    const message = `no key is configured for the provider ${asked.provider}: put it into HOME/credentials.yaml of the daemon (mode 0600)${why}`;
    return { status: 401, reason: 'NoCredentials', message };
  }
  const url = urlBelow(provider.baseUrl, asked.path);
  return url
    ? { provider, url }
    : { status: 400, reason: 'BadPath', message: 'the path has a segment that is empty, or that leads elsewhere' };
}

function send(visit: Visit, url: URL, { limits, log }: { readonly limits: ProviderLimits; readonly log: Logger }): void {
  const { request, response, provider, agentId } = visit;
  const options = {
    method: request.method ?? 'GET',
    headers: requestHeaders(request, provider),
    setHost: false,
    maxHeaderSize: MAX_ANSWER_HEAD_BYTES,
  };
  const outgoing =
    url.protocol === 'https:' ? requestHttps(url, { ...options, agent: https }) : requestHttp(url, { ...options, agent: false });
  const noAnswer = (reason: string, message: string) => {
    request.resume();
    answerError(response, { status: 502, reason, message });
  };
  watchTime(outgoing, limits);
  outgoing.on('response', (incoming) => bringBack(visit, url, incoming));
  outgoing.on('error', (error: NodeJS.ErrnoException) => {
    if (!response.headersSent) log.warn({ agentId, provider: provider.name, code: error.code ?? error.message }, 'provider gave no answer');
    noAnswer('ProviderUnreachable', `the provider ${provider.name} gave no answer (${error.code ?? 'no proper answer'})`);
  });
  outgoing.on('upgrade', (_, socket) => {
    socket.destroy();
    noAnswer('BadAnswer', `the provider ${provider.name} wanted another protocol`);
  });
  response.once('close', () => outgoing.destroy());
  request.once('error', () => outgoing.destroy());
  const hasBody = request.headers['transfer-encoding'] !== undefined || request.headers['content-length'] !== undefined;
  if (hasBody) request.pipe(outgoing);
  else outgoing.end();
}

function watchTime(outgoing: ClientRequest, { connectMs, idleMs }: ProviderLimits): void {
  const late = (code: string) => outgoing.destroy(Object.assign(new Error('out of time'), { code }));
  const timer = setTimeout(() => late('ETIMEDOUT'), connectMs);
  outgoing.once('close', () => clearTimeout(timer));
  outgoing.once('socket', (socket) => {
    socket.once(socketReady(outgoing), () => clearTimeout(timer));
    socket.setTimeout(idleMs, () => late('EIDLE'));
  });
}

function socketReady({ protocol }: ClientRequest): 'secureConnect' | 'connect' {
  return protocol === 'https:' ? 'secureConnect' : 'connect';
}

const DECODERS: Readonly<Record<string, () => Transform>> = { gzip: createGunzip, deflate: createInflate, br: createBrotliDecompress };

function bringBack({ provider, request, response, onUsage }: Visit, url: URL, incoming: IncomingMessage): void {
  const coding = codingOf(incoming);
  const decoder = DECODERS[coding];
  const problem = problemOf(incoming, coding) ?? writeHead(response, incoming, provider, decoder !== undefined);
  if (problem !== undefined) {
    incoming.destroy();
    request.resume();
    answerError(response, { status: 502, reason: 'BadAnswer', message: `the answer of the provider ${provider.name} ${problem}` });
    return;
  }
  response.flushHeaders();
  const fold = incoming.statusCode === 200 ? usageFoldOf(url.pathname) : undefined;
  const isEvents = (incoming.headers['content-type'] ?? '').includes('text/event-stream');
  const steps = [
    ...(decoder ? [decoder()] : []),
    ...(fold ? [readingUsage(new UsageReader(fold, { isEvents }), onUsage)] : []),
    ...(provider.apiKey === undefined ? [] : [maskKey(provider.apiKey)]),
  ];
  pipeline([incoming, ...steps, response], (error) => {
    if (error) response.destroy();
  });
}

function codingOf({ headers }: IncomingMessage): string {
  return (headers['content-encoding'] ?? 'identity').trim().toLowerCase();
}

/** A redirect is for nobody: the key is for this host, and the agent could not get to another. */
function problemOf({ statusCode = 0 }: IncomingMessage, coding: string): string | undefined {
  if (statusCode >= 300 && statusCode < 400 && statusCode !== 304) return 'is a redirect, and none is followed';
  return coding === 'identity' || DECODERS[coding] ? undefined : 'is in a coding that nobody asked for';
}

function writeHead(response: ServerResponse, incoming: IncomingMessage, provider: Provider, isRecoded: boolean): string | undefined {
  try {
    response.writeHead(incoming.statusCode ?? 502, answerHeaders(incoming, provider, { isRecoded }));
    return undefined;
  } catch {
    return 'has a header that may be received but not sent';
  }
}
