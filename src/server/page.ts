/** Lists in pages: every page of one list shows the state of the same version, which the store's history still knows or has to give up. */
import type { KindObject } from '#api/meta.ts';
import { isCode, messageOf } from '#lib/errors.ts';
import { isObject, type JsonObject } from '#lib/json.ts';
import type { ListOptions } from './list-options.ts';
import type { Source } from './source.ts';
import { badRequest, failure } from './status.ts';

export interface Page {
  readonly items: readonly KindObject[];
  readonly resourceVersion: number;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

interface Token {
  /** -1: whatever is there now. */
  readonly version: number;
  /** The last object of the page before. */
  readonly after: string;
}

/** `isVisible` leaves out what the caller may not see. */
export function pageOf(source: Source, options: ListOptions, isVisible?: (object: KindObject) => boolean): Page {
  const token = options.continue === undefined ? undefined : parseToken(options.continue, options.namespace);
  const { items: all, resourceVersion } = listed(source, options, token);
  const seen = isVisible ? all.filter(isVisible) : all;
  const rest = token ? seen.slice(firstAfter(seen, token.after)) : seen;
  // Any version will do: then all of it is at hand.
  const limit = options.resourceVersion === '0' ? 0 : options.limit;
  if (limit <= 0 || rest.length <= limit) return { items: rest, resourceVersion };
  const items = rest.slice(0, limit);
  const isCounted = options.labelSelector === undefined && options.fieldSelector === undefined && !isVisible;
  return {
    items,
    resourceVersion,
    continue: formatToken({ version: resourceVersion, after: idOf(items.at(-1) as KindObject) }, options.namespace),
    ...(isCounted ? { remainingItemCount: rest.length - items.length } : {}),
  };
}

function listed(source: Source, options: ListOptions, token: Token | undefined): { items: readonly KindObject[]; resourceVersion: number } {
  if (token) {
    return token.version === -1 ? source.list(options) : { items: continued(source, options, token), resourceVersion: token.version };
  }
  const { resourceVersion = '0' } = options;
  const asked = Number(resourceVersion);
  if (asked > source.resourceVersion()) throw tooLarge(resourceVersion, source.resourceVersion());
  if (!isExact(options)) return source.list(options);
  try {
    return { items: source.listAt(asked, options), resourceVersion: asked };
  } catch (error) {
    if (isCode(error, 'Expired')) throw failure(410, 'The resourceVersion for the provided list is too old.', { cause: error });
    throw error;
  }
}

/** A first page of a named version is the first of a list as it was then. */
function isExact({ resourceVersion, resourceVersionMatch, limit }: ListOptions): boolean {
  if (resourceVersionMatch !== undefined) return resourceVersionMatch === 'Exact';
  return limit > 0 && resourceVersion !== undefined && resourceVersion !== '0';
}

function continued(source: Source, options: ListOptions, token: Token): readonly KindObject[] {
  try {
    return source.listAt(token.version, options);
  } catch (error) {
    if (!isCode(error, 'Expired')) throw error;
    throw failure(410, TOO_OLD_TO_CONTINUE, {
      metadata: { continue: formatToken({ ...token, version: -1 }, options.namespace) },
      cause: error,
    });
  }
}

const TOO_OLD_TO_CONTINUE =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.';

export function tooLarge(asked: number | string, current: number) {
  return failure(504, `Timeout: Too large resource version: ${asked}, current: ${current}`, {
    details: { causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }], retryAfterSeconds: 1 },
  });
}

/** The list is sorted by namespace, then name: the place is found by halving. */
function firstAfter(items: readonly KindObject[], after: string): number {
  const [namespace = '', name = ''] = after.split('/');
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isAfter(items[middle] as KindObject, namespace, name)) high = middle;
    else low = middle + 1;
  }
  return low;
}

function isAfter({ metadata }: KindObject, namespace: string, name: string): boolean {
  const own = metadata.namespace ?? '';
  return own === namespace ? metadata.name > name : own > namespace;
}

function idOf({ metadata }: KindObject): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`;
}

/** Kubernetes' form: below the namespace where there is one, and with a zero byte: everything strictly after the last object. */
function formatToken({ version, after }: Token, namespace: string | undefined): string {
  const key = namespace === undefined ? after.replace(/^\//, '') : after.slice(namespace.length + 1);
  return Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: version, start: `${key}\u0000` })).toString('base64url');
}

function parseToken(text: string, namespace: string | undefined): Token {
  const value = decodedToken(text);
  const { v = '', rv, start } = value;
  if (v !== 'meta.k8s.io/v1') throw badToken(`server does not recognize this encoded version ${v}`);
  if (typeof rv !== 'number' || !Number.isSafeInteger(rv) || (rv < 1 && rv !== -1)) {
    throw badToken('incorrect encoded start resourceVersion (version meta.k8s.io/v1)');
  }
  if (typeof start !== 'string' || start === '') throw badToken('encoded start key empty (version meta.k8s.io/v1)');
  const key = start.replace('\u0000', '');
  if (/(^|\/)\.\.?(\/|$)/.test(key) || key.split('/').length > 2) throw badToken(start);
  if (namespace !== undefined) return { version: rv, after: `${namespace}/${key}` };
  return { version: rv, after: key.includes('/') ? key : `/${key}` };
}

function decodedToken(text: string): JsonObject {
  // Buffer skips what is not base64; Kubernetes says where it stands.
  const stray = /[^A-Za-z0-9_-]/.exec(text);
  if (stray) throw badToken(`illegal base64 data at input byte ${stray.index}`);
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    if (isObject(value)) return value;
  } catch (error) {
    throw badToken(messageOf(error));
  }
  throw badToken('it is no object');
}

function badToken(problem: string) {
  return badRequest(`invalid continue token: continue key is not valid: ${problem}`);
}
