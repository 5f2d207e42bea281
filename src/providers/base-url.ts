/** The address of a provider, and where below it a request goes. Pure. */
import { InvalidError } from '#lib/errors.ts';

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** HTTPS, or HTTP to this machine: a key does not travel in the clear. Says nothing of the text itself, which may hold a secret. */
export function parseBaseUrl(text: string): URL {
  if (!URL.canParse(text)) throw new InvalidError('baseUrl is no URL; write https://host/path');
  const url = new URL(text);
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new InvalidError('baseUrl has a user, a query or a fragment; write https://host/path');
  }
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url))) {
    throw new InvalidError('baseUrl must begin with https://, or with http:// where the host is this machine');
  }
  return url;
}

export function isLoopback({ hostname }: URL): boolean {
  return LOOPBACK.test(hostname);
}

const VERSION = /\/(v\d[a-z0-9]*)$/;

/**
 * `path` is what follows the provider's name in the request, with its query. Undefined for one that would leave the base, by whatever
 * spelling. A version that ends the base and begins the path is meant once: programs differ in whose it is.
 */
export function urlBelow(base: URL, path: string): URL | undefined {
  const [, name = '', query = ''] = /^([^?#]*)(?:\?([^#]*))?$/.exec(path) ?? [];
  if (!isPlain(name)) return undefined;
  const root = base.pathname.replace(/\/+$/, '');
  const version = VERSION.exec(root)?.[1];
  const rest = version !== undefined && (name === `/${version}` || name.startsWith(`/${version}/`)) ? name.slice(version.length + 1) : name;
  const url = new URL(base);
  url.pathname = `${root}${rest}`;
  url.search = withoutKeys(query);
  return url;
}

/** Segments as they stand: no empty one, none that climbs, nothing a server might take for a slash. */
function isPlain(path: string): boolean {
  if (path === '' || path === '/') return true;
  if (!path.startsWith('/') || /[\\\s]|%(?:2e|2f|5c|00)/i.test(path)) return false;
  return !path
    .slice(1)
    .replace(/\/$/, '')
    .split('/')
    .some((segment) => segment === '' || segment === '.' || segment === '..');
}

/** Some programs put their key there. */
const KEY_PARAMETERS = new Set(['key', 'api_key', 'apikey', 'access_token']);

function withoutKeys(query: string): string {
  return query
    .split('&')
    .filter((pair) => !KEY_PARAMETERS.has(decoded(pair.split('=', 1)[0] ?? '').toLowerCase()))
    .join('&');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
