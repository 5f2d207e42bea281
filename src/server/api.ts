/** The API: every request from its first byte to its answer. Who asks, what for, whether that may be, and then the verb. */
import { type IncomingHttpHeaders, type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { hostname } from 'node:os';
import type { Duplex } from 'node:stream';
import type { KnownModels } from '#api/known-models.ts';
import type { Limits } from '#api/limits.ts';
import { type Clock, systemClock } from '#lib/clock.ts';
import type { Logger } from '#lib/log.ts';
import type { Store } from '#store/store.ts';
import type { AgentIo } from './agent-io.ts';
import { shapeOf } from './answer.ts';
import { type Channel, type Gate, identified } from './auth/identified.ts';
import type { Identity } from './auth/identity.ts';
import { checkRights, checkRoute } from './authorised.ts';
import type { Answer, Call, Serving } from './call.ts';
import { type Desks, deskAt } from './desk.ts';
import { deskAnswer } from './desk-answer.ts';
import { type DocumentAnswer, documentFor, isDocument, paths } from './documents/serve.ts';
import { isOurFailure, toStatusError } from './errors.ts';
import { type Health, healthAnswer } from './health.ts';
import { misrouted } from './misrouted.ts';
import { flag } from './params.ts';
import { noAgents, podAnswer } from './pods/answer.ts';
import { readBody } from './request-body.ts';
import { RequestCounts } from './request-counts.ts';
import { apiVersionOf, resources } from './resources.ts';
import { failureAnswer, sendAnswer, sendFailure, warningOf } from './respond.ts';
import { type Route, routeOf } from './route.ts';
import { createSources } from './sources.ts';
import { badRequest, failure, type StatusError } from './status.ts';
import { RunningStreams } from './streams/running.ts';
import { serveUpgrade, type Upgrade } from './streams/upgrade.ts';
import { createObject } from './verbs/create.ts';
import { deleteCollection, deleteObject } from './verbs/delete.ts';
import { patchObject } from './verbs/patch.ts';
import { getObject, listObjects } from './verbs/read.ts';
import { createReview } from './verbs/review.ts';
import { updateObject } from './verbs/update.ts';
import { watchObjects } from './verbs/watch.ts';
import type { WatchStream } from './watch-stream.ts';

export interface ApiOptions extends Gate {
  readonly store: Store;
  readonly log: Logger;
  readonly health: Health;
  /** What the rest of the process measures, in Prometheus' text form. */
  readonly metrics: () => string;
  readonly clock?: Clock;
  /** What is offered beside resources, by the first part of its path: `tokens`, `messages`. */
  readonly desks?: Desks;
  /** What the front door counts against. Absent: there is no front door, as in a plain Kubernetes. */
  readonly limits?: Limits;
  readonly models?: KnownModels;
  /** Reaches into the agents; absent: logs, exec and their like are refused. */
  readonly agentIo?: AgentIo;
  /** The node that all agents are on, as pods. Absent: the name of this machine. */
  readonly nodeName?: string;
}

export interface Api {
  handle(request: IncomingMessage, response: ServerResponse, channel: Channel): void;
  /**
   * The same for somebody in this process, without a wire: one object or list, read or written. Undefined for everything else, such as
   * watches, which needs one. What is only read is there at once.
   */
  ask(request: OwnRequest, channel: Channel): Answer | Promise<Answer> | undefined;
  /** A request to change the protocol: exec, attach, portforward. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, channel: Channel): void;
  /** Ends every watch and stream, or those of one user, as if their time were up. */
  endWatches(user?: string): void;
}

/** As it would come over the wire. */
export interface OwnRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  /** By their names in small letters. */
  readonly headers: IncomingHttpHeaders;
  readonly body?: string | Buffer;
}

const KEEP_ALIVE_MS = 30_000;
const NO_QUERY = new URLSearchParams();

export function createApi(options: ApiOptions): Api {
  const { store, log, clock = systemClock } = options;
  const { desks = {} } = options;
  const serving: Serving = {
    store,
    clock,
    ...createSources(store, { clock, nodeName: options.nodeName ?? hostname() }),
    lookup: (reference) => store.get(reference),
    ...(options.limits && { limits: options.limits }),
    ...(options.models && { models: options.models }),
  };
  const watches = new Map<WatchStream, string>();
  const counts = new RequestCounts();
  const streams = new RunningStreams();

  /** Undefined: the answer is a stream that goes on. */
  function answer(request: IncomingMessage, response: ServerResponse, channel: Channel, asked: Asked): Given | Promise<Given> {
    const identity = identified(request, channel, options);
    checkTimeout(asked.query);
    const route = routeOf(request.method ?? '', asked.path, isWatch(asked.query));
    if (!route) return elsewhere(request, response, identity, asked);
    if ('is' in route) throw misrouted(route);
    asked.route = route;
    checkRoute(identity, route);
    const headers = request.headers;
    const shape = shapeOf(headers.accept, route.verb === 'watch');
    const { query, warnings } = asked;
    const call: Call = { route, query, headers, identity, shape, warnings, body: () => readBody(request) };
    const asking = route.resource.asks && podAnswer(call, serving, { agentIo: options.agentIo, streams, response });
    return asking || fromStore(call, response);
  }

  function fromStore(call: Call, response: ServerResponse): Given | Promise<Given> {
    const { route, identity } = call;
    if (route.verb !== 'watch') return verbOf(route)(call, serving);
    const stream = watchObjects(call, serving, response);
    watches.set(stream, identity.user);
    response.on('error', (error) => log.debug({ err: error }, 'a watcher went away'));
    response.on('close', () => watches.delete(stream));
    return undefined;
  }

  /** What is no resource: desks, documents, metrics, the list of paths. */
  function elsewhere(
    request: IncomingMessage,
    response: ServerResponse,
    identity: Identity,
    { path, query }: Asked,
  ): Given | Promise<Given> {
    const { method = '', headers } = request;
    const place = method === 'HEAD' ? undefined : deskAt(desks, path);
    if (place) return deskAnswer({ ...place, request, response, identity, query, asked: path, enter: () => streams.enter(identity.user) });
    checkRights(identity, { verb: method.toLowerCase(), path });
    if (method !== 'GET' && method !== 'HEAD') return readOnly(path);
    const document = documentFor(path, query, headers, clock);
    return document ? documentAnswer(document) : (pages[path]?.() ?? nothingAt(path));
  }

  /** Resolves when the stream is over; rejects while it can still be refused. */
  async function upgraded(
    request: IncomingMessage,
    connection: Pick<Upgrade, 'socket' | 'head'>,
    { channel, asked }: { channel: Channel; asked: Asked },
  ): Promise<void> {
    const identity = identified(request, channel, options);
    const route = routeOf(request.method ?? '', asked.path, false);
    if (!route) throw badRequest('this path does not change its protocol');
    if ('is' in route) throw misrouted(route);
    asked.route = route;
    checkRoute(identity, route);
    const { agentIo } = options;
    if (!agentIo) throw noAgents();
    const place = streams.enter(identity.user);
    try {
      const call = { route, query: asked.query, identity };
      await serveUpgrade({ call, serving, agentIo, request, ...connection, signal: place.signal });
      counts.count(route, 101);
    } finally {
      place.leave();
    }
  }

  const pages: Readonly<Record<string, (() => Answer) | undefined>> = {
    '/': () => ({ status: 200, body: JSON.stringify({ paths: [...paths(), '/healthz', '/livez', '/metrics', '/readyz'].sort() }) }),
    '/metrics': () => ({
      status: 200,
      body: options.metrics() + counts.render(watches.size),
      contentType: 'text/plain; version=0.0.4; charset=utf-8',
    }),
  };

  function send(response: ServerResponse, asked: Asked, given: Given): void {
    if (given) sendAnswer(response, given, asked.warnings);
    counts.count(asked.route, given?.status ?? 200);
  }

  function refusalOf(asked: Asked, error: unknown): StatusError {
    const refusal = toStatusError(error, asked.route);
    if (isOurFailure(refusal)) log.error({ err: error, path: asked.path }, 'request failed');
    counts.count(asked.route, refusal.status.code ?? 500);
    counts.countError(refusal.status.reason ?? 'Unknown');
    return refusal;
  }

  function refuse(response: ServerResponse, asked: Asked, error: unknown): void {
    sendFailure(response, refusalOf(asked, error), asked);
  }

  function askedHere({ headers, body = '' }: OwnRequest, channel: Channel, asked: Asked, route: Route): Answer | Promise<Answer> {
    const { query, warnings } = asked;
    const said = (given: Answer): Answer => {
      counts.count(route, given.status);
      return withWarnings(given, warnings);
    };
    const refused = (error: unknown): Answer => withWarnings(failureAnswer(refusalOf(asked, error), asked.accept), warnings);
    try {
      const identity = identified({ headers, headersDistinct: {} }, channel, options);
      checkTimeout(query);
      checkRoute(identity, route);
      const shape = shapeOf(headers.accept, false);
      const call: Call = {
        route,
        query,
        headers,
        identity,
        shape,
        warnings,
        body: () => (typeof body === 'string' ? Buffer.from(body) : body),
      };
      const given = verbOf(route)(call, serving);
      return given instanceof Promise ? given.then(said).catch(refused) : said(given);
    } catch (error) {
      return refused(error);
    }
  }

  return {
    /** Answers that are there at once, as all reads are, go out at once. */
    handle(request, response, channel) {
      const asked = toAsked(request.url ?? '/', request.headers.accept);
      try {
        const given = healthAnswer(options.health, asked.path, asked.query) ?? answer(request, response, channel, asked);
        if (given instanceof Promise) {
          given.then((later) => send(response, asked, later)).catch((error: unknown) => refuse(response, asked, error));
        } else send(response, asked, given);
      } catch (error) {
        refuse(response, asked, error);
      }
    },
    ask(request, channel) {
      const asked = toAsked(request.path, request.headers.accept);
      const route = isWatch(asked.query) ? undefined : routeOf(request.method, asked.path, false);
      // There is a path that says watch, too.
      if (!route || 'is' in route || route.resource.asks || route.verb === 'watch') return undefined;
      asked.route = route;
      return askedHere(request, channel, asked, route);
    },
    upgrade(request, socket, head, channel) {
      socket.on('error', (error) => log.debug({ err: error }, 'a stream broke off'));
      // Also one that is held back, and so not read from, is to be found out when its client is gone.
      if ('setKeepAlive' in socket) (socket as Socket).setKeepAlive(true, KEEP_ALIVE_MS);
      const asked = toAsked(request.url ?? '/', request.headers.accept);
      upgraded(request, { socket, head }, { channel, asked }).catch((error: unknown) =>
        refuse(bareResponse(request, socket), asked, error),
      );
    },
    endWatches(user) {
      streams.end(user);
      for (const desk of Object.values(desks)) desk.end?.(user);
      for (const [stream, owner] of watches) if (user === undefined || user === owner) stream.end();
    },
  };
}

function withWarnings(answer: Answer, warnings: readonly string[]): Answer {
  return warnings.length === 0 ? answer : { ...answer, headers: { ...answer.headers, Warning: warnings.map(warningOf) } };
}

/** A refusal in the form of any other; the connection has no further use. */
function bareResponse(request: IncomingMessage, socket: Duplex): ServerResponse {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  // What node calls a socket here need not be one.
  response.assignSocket(socket as Socket);
  response.on('finish', () => socket.end());
  return response;
}

type Given = Answer | undefined;

function documentAnswer({
  status,
  body,
  headers: { 'Content-Type': contentType = 'application/json', ...headers },
}: DocumentAnswer): Answer {
  return { status, body, contentType, headers };
}

interface Asked {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly accept: string | undefined;
  readonly warnings: string[];
  /** Once it is known. */
  route?: Route;
}

function toAsked(url: string, accept: string | undefined): Asked {
  const cut = url.indexOf('?');
  const path = cut < 0 ? url : url.slice(0, cut);
  return { path, query: cut < 0 ? NO_QUERY : new URLSearchParams(url.slice(cut + 1)), accept, warnings: [] };
}

const GO_DURATION = /^[+-]?(\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)((\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h))*$|^[+-]?0$/;

/** We need no more time than there is; but what is no time is a mistake. */
function checkTimeout(query: URLSearchParams): void {
  const timeout = query.get('timeout');
  if (!timeout || GO_DURATION.test(timeout)) return;
  throw failure(400, `invalid timeout specified in the request URL - time: invalid duration ${JSON.stringify(timeout)}`);
}

function isWatch(query: URLSearchParams): boolean {
  return query !== NO_QUERY && flag(query, 'watch');
}

type Verb = (call: Call, serving: Serving) => Answer | Promise<Answer>;

const VERBS: Readonly<Record<Exclude<Route['verb'], 'watch'> | 'review', Verb>> = {
  get: getObject,
  list: listObjects,
  create: createObject,
  update: updateObject,
  patch: patchObject,
  delete: deleteObject,
  deletecollection: deleteCollection,
  review: createReview,
};

function verbOf({ resource, verb }: Route): Verb {
  if (verb === 'watch') throw new Error('a watch is answered by a stream');
  return VERBS[resource.stored ? verb : computedVerb(verb)];
}

/** The only things one can create that are not stored are questions. */
function computedVerb(verb: Exclude<Route['verb'], 'watch'>): keyof typeof VERBS {
  return verb === 'create' ? 'review' : verb;
}

function readOnly(path: string): Answer {
  if (!isDocument(path)) return nothingAt(path);
  throw failure(405, 'the server does not allow this method on the requested resource', { details: {} });
}

/** In the words of the library that answers for Kubernetes where nothing is served. */
const NO_SUCH_PATH: Answer = { status: 404, body: '404 page not found\n', contentType: 'text/plain; charset=utf-8' };

/** Of groups that every Kubernetes has, it says so in its own form. */
function nothingAt(path: string): Answer {
  if (!BUILT_IN_ROOTS.some((root) => path.startsWith(root))) return NO_SUCH_PATH;
  throw failure(404, 'the server could not find the requested resource', { details: {} });
}

const BUILT_IN_ROOTS = resources
  .filter(({ stored }) => stored?.crd === undefined)
  .map((resource) => `/${resource.group === '' ? 'api' : 'apis'}/${apiVersionOf(resource)}/`);
