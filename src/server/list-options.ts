/** What a list or watch asks for, checked the way Kubernetes checks it. Pure. */
import { flag, integer, invalidOptions, text } from './params.ts';
import type { Route } from './route.ts';
import { badRequest, failure, type StatusCause } from './status.ts';

export interface ListOptions {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly limit: number;
  readonly continue?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: string;
  readonly sendInitialEvents?: boolean;
  readonly allowWatchBookmarks: boolean;
  readonly timeoutSeconds?: number;
}

export function listOptions({ namespace, name }: Route, query: URLSearchParams): ListOptions {
  const fieldSelector = withName(text(query, 'fieldSelector'), name);
  const timeoutSeconds = integer(query, 'timeoutSeconds');
  return {
    limit: integer(query, 'limit') ?? 0,
    allowWatchBookmarks: flag(query, 'allowWatchBookmarks'),
    ...(namespace === undefined ? {} : { namespace }),
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
    ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }),
    ...(query.has('sendInitialEvents') ? { sendInitialEvents: flag(query, 'sendInitialEvents') } : {}),
    ...texts(query, ['labelSelector', 'continue', 'resourceVersion', 'resourceVersionMatch']),
  };
}

/** A watch of one object is a watch of all that have its name. */
function withName(selector: string | undefined, name: string | undefined): string | undefined {
  if (name === undefined) return selector;
  const own = `metadata.name=${name}`;
  return selector === undefined ? own : `${selector},${own}`;
}

function texts<N extends string>(query: URLSearchParams, names: readonly N[]): { [K in N]?: string } {
  const found: { [K in N]?: string } = {};
  for (const name of names) {
    const value = text(query, name);
    if (value !== undefined) found[name] = value;
  }
  return found;
}

export function checkListOptions(options: ListOptions): void {
  const causes = matchProblems(options);
  if (options.sendInitialEvents !== undefined) {
    causes.push(forbidden('sendInitialEvents is forbidden for list', 'sendInitialEvents'));
  }
  if (causes.length > 0) throw invalidOptions('ListOptions', causes);
  const { resourceVersion } = options;
  if (options.continue !== undefined && resourceVersion !== undefined && resourceVersion !== '0') {
    throw badRequest('specifying resource version is not allowed when using continue');
  }
  checkVersion(resourceVersion);
}

function matchProblems({ resourceVersion, resourceVersionMatch: match, continue: token }: ListOptions): StatusCause[] {
  if (match === undefined) return [];
  const causes: StatusCause[] = [];
  if (resourceVersion === undefined) causes.push(forbidden('resourceVersionMatch is forbidden unless resourceVersion is provided'));
  if (token !== undefined) causes.push(forbidden('resourceVersionMatch is forbidden when continue is provided'));
  if (match !== 'Exact' && match !== 'NotOlderThan') causes.push(unsupported(match, ['Exact', 'NotOlderThan', '']));
  if (match === 'Exact' && resourceVersion === '0') {
    causes.push(forbidden('resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
  }
  return causes;
}

/** A watch that does not say from where is one for all that is there, and then for what changes. */
export function watchOptions(route: Route, query: URLSearchParams): ListOptions {
  const options = listOptions(route, query);
  const { resourceVersion = '0', resourceVersionMatch, sendInitialEvents } = options;
  if (resourceVersion !== '0' || resourceVersionMatch !== undefined || sendInitialEvents !== undefined) return options;
  return { ...options, sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' };
}

export function checkWatchOptions(options: ListOptions): void {
  const { resourceVersionMatch: match, sendInitialEvents } = options;
  const causes: StatusCause[] = [];
  if (sendInitialEvents !== undefined && match !== 'NotOlderThan') {
    causes.push(forbidden('sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'));
  }
  if (match !== undefined) {
    if (sendInitialEvents === undefined) {
      causes.push(forbidden('resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'));
    }
    if (match !== 'NotOlderThan') causes.push(unsupported(match, ['NotOlderThan']));
    if (options.continue !== undefined) causes.push(forbidden('resourceVersionMatch is forbidden when continue is provided'));
  }
  if (causes.length > 0) throw invalidOptions('ListOptions', causes);
  const quoted = JSON.stringify(options.resourceVersion);
  if (!isVersion(options.resourceVersion)) {
    throw failure(500, `resourceVersion: Invalid value: ${quoted}: strconv.ParseUint: parsing ${quoted}: invalid syntax`, { reason: '' });
  }
}

/** As many digits as 64 bits surely have; beyond 53 bits it is no version of ours, and only has to be told from one. */
export function isVersion(version: string | undefined): boolean {
  return version === undefined || /^\d{1,19}$/.test(version);
}

function checkVersion(version: string | undefined): void {
  if (isVersion(version)) return;
  const quoted = JSON.stringify(version);
  throw badRequest(
    `invalid resource version: resourceVersion: Invalid value: ${quoted}: strconv.ParseUint: parsing ${quoted}: invalid syntax`,
  );
}

function forbidden(message: string, field = 'resourceVersionMatch'): StatusCause {
  return { reason: 'FieldValueForbidden', message: `Forbidden: ${message}`, field };
}

function unsupported(value: string, supported: readonly string[]): StatusCause {
  const list = supported.map((word) => JSON.stringify(word)).join(', ');
  return {
    reason: 'FieldValueNotSupported',
    message: `Unsupported value: ${JSON.stringify(value)}: supported values: ${list}`,
    field: 'resourceVersionMatch',
  };
}
