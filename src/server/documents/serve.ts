/** Answers the requests for constant documents: discovery, OpenAPI and the version. Everything else is none of its business. */
import type { IncomingHttpHeaders } from 'node:http';
import { type Clock, systemClock } from '#lib/clock.ts';
import { notAcceptable } from '../status.ts';
import { type MediaRange, parseAccept, takesJson } from './accept.ts';
import {
  type AggregatedVersion,
  aggregatedCore,
  aggregatedGroups,
  aggregatedType,
  legacyCore,
  legacyGroup,
  legacyGroups,
  resourceList,
} from './discovery.ts';
import { type Document, documentOf, jsonDocument, lazy, lazyEach, yamlDocument } from './document.ts';
import { groupNames, groupVersions } from './groups.ts';
import { openApiV2, swagger } from './openapi-v2.ts';
import { openApiV2Protobuf, SWAGGER_PROTOBUF_TYPE } from './openapi-v2-protobuf.ts';
import { openApiV3Document, openApiV3Index } from './openapi-v3.ts';
import { versionInfo } from './version.ts';

export interface DocumentAnswer {
  readonly status: 200 | 301 | 304;
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

interface Asked {
  readonly accept: readonly MediaRange[];
  readonly host: string;
}

type Route = (asked: Asked) => Document;

const OPENAPI_V3 = '/openapi/v3/';
const YEAR_MS = 365 * 24 * 3600 * 1000;
const SWAGGER_TYPES = [SWAGGER_PROTOBUF_TYPE, SWAGGER_PROTOBUF_TYPE.replace('.v1.0+', '@v1.0+')];

function isAggregatedVersion(version: string | undefined): version is AggregatedVersion {
  return version === 'v2' || version === 'v2beta1';
}

type Form = 'json' | 'yaml' | AggregatedVersion;

/** The first entry that we understand wins. Whoever reads protobuf reads JSON too, if it is called so. */
function formOf(accept: readonly MediaRange[], canAggregate: boolean): Form | undefined {
  if (accept.length === 0) return 'json';
  for (const range of accept) {
    const form = formIn(range);
    if (form && (canAggregate || !isAggregatedVersion(form))) return form;
  }
  return accept.some(({ type }) => type === 'application/vnd.kubernetes.protobuf') ? 'json' : undefined;
}

function formIn(range: MediaRange): Form | undefined {
  const { g, v, as } = range.parameters;
  const isPlain = as === undefined && g === undefined && v === undefined;
  if (isPlain && range.type === 'application/yaml') return 'yaml';
  if (!takesJson(range)) return undefined;
  if (isPlain) return 'json';
  return g === 'apidiscovery.k8s.io' && as === 'APIGroupDiscoveryList' && isAggregatedVersion(v) ? v : undefined;
}

/** `aggregate`: all groups at once, where there is such a document. */
function discoveryRoute(legacy: Route, aggregate?: (version: AggregatedVersion) => unknown): Route {
  const aggregated = lazyEach((type) => jsonDocument(aggregate?.(type as AggregatedVersion), aggregatedType(type as AggregatedVersion)));
  return (asked) => {
    const form = formOf(asked.accept, aggregate !== undefined);
    if (form === undefined) throw notAcceptable();
    if (isAggregatedVersion(form)) return aggregated(form);
    return form === 'yaml' ? yamlDocument(legacy(asked)) : legacy(asked);
  };
}

function swaggerRoute(): Route {
  const parts = lazy(swagger);
  const json = lazy(() => jsonDocument(openApiV2(parts())));
  const protobuf = lazy(() => documentOf(openApiV2Protobuf(parts()), SWAGGER_PROTOBUF_TYPE));
  return ({ accept }) => {
    const first = accept.find((range) => takesJson(range) || SWAGGER_TYPES.includes(range.type));
    if (!first && accept.length > 0) throw notAcceptable(['application/json', ...SWAGGER_TYPES].join(', '));
    return first && SWAGGER_TYPES.includes(first.type) ? protobuf() : json();
  };
}

const ofJson = (value: () => unknown): Route => lazy(() => jsonDocument(value()));

const routes: ReadonlyMap<string, Route> = new Map<string, Route>([
  ['/api', discoveryRoute(({ host }) => jsonDocument(legacyCore(host)), aggregatedCore)],
  ['/apis', discoveryRoute(ofJson(legacyGroups), aggregatedGroups)],
  ...groupNames.map((group): [string, Route] => [`/apis/${group}`, discoveryRoute(ofJson(() => legacyGroup(group)))]),
  ...groupVersions.map(({ path, name }): [string, Route] => [`/${path}`, discoveryRoute(ofJson(() => resourceList(name)))]),
  ['/openapi/v2', swaggerRoute()],
  ['/openapi/v3', openApiV3Index],
  ['/version', ofJson(versionInfo)],
]);

/** If-None-Match: a list of quoted tags, weak ones included, or `*`. */
function isKnown(header: string | undefined, etag: string): boolean {
  return (header ?? '').split(',').some((tag) => ['*', `"${etag}"`, `W/"${etag}"`].includes(tag.trim()));
}

function answer({ body, contentType, etag }: Document, headers: IncomingHttpHeaders, more: Record<string, string> = {}): DocumentAnswer {
  const common = { ETag: `"${etag}"`, Vary: 'Accept', ...more };
  if (isKnown(headers['if-none-match'], etag)) return { status: 304, headers: common, body: Buffer.alloc(0) };
  return { status: 200, headers: { 'Content-Type': contentType, ...common }, body };
}

/** A document that is asked for by its fingerprint never changes; one asked for by an old fingerprint has moved. */
function versioned(document: Document, asked: { hash: string; headers: IncomingHttpHeaders; clock: Clock }): DocumentAnswer {
  if (asked.hash !== document.etag) {
    // Relative, so that it holds behind any path prefix.
    return { status: 301, headers: { Location: `?hash=${document.etag}`, Vary: 'Accept' }, body: Buffer.alloc(0) };
  }
  const expires = new Date(asked.clock.now().getTime() + YEAR_MS).toUTCString();
  return answer(document, asked.headers, { 'Cache-Control': 'public, immutable', Expires: expires });
}

/** The answer to GET, or undefined for a path that is not a document. */
export function documentFor(
  path: string,
  query: URLSearchParams,
  headers: IncomingHttpHeaders,
  clock: Clock = systemClock,
): DocumentAnswer | undefined {
  const plain = path.endsWith('/') ? path.slice(0, -1) : path;
  const route = routes.get(plain);
  if (route) return answer(route({ accept: parseAccept(headers.accept), host: headers.host ?? '' }), headers);
  const document = plain.startsWith(OPENAPI_V3) ? openApiV3Document(plain.slice(OPENAPI_V3.length)) : undefined;
  // Not JSON under another name: who takes only protobuf would read it as that.
  const accept = parseAccept(headers.accept);
  if (document && accept.length > 0 && !accept.some(takesJson)) throw notAcceptable('application/json');
  const hash = query.get('hash');
  if (!document || !hash) return document && answer(document, headers);
  return versioned(document, { hash, headers, clock });
}

export function isDocument(path: string): boolean {
  return routes.has(path);
}

/** The paths answered here, for the list at `/`. */
export function paths(): string[] {
  return [...routes.keys(), ...groupVersions.map(({ path }) => `${OPENAPI_V3}${path}`)].sort();
}
