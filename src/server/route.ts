/** A request's method and path as a verb on a resource, the way Kubernetes reads them. Pure. */
import { type Resource, resources } from './resources.ts';

export interface Route {
  readonly verb: 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';
  readonly resource: Resource;
  /** Absent: all namespaces, or a resource that has none. */
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
}

/** A path that is ours, but not for this. */
export interface Misroute {
  readonly is: 'no such method' | 'no such subresource' | 'name missing';
  readonly resource: Resource;
  readonly name?: string;
  /** Empty for a method that is no verb. */
  readonly verb: Route['verb'] | '';
}

export type Routing = Route | Misroute | undefined;

const byPath = new Map<string, Map<string, Resource>>();
for (const resource of resources) {
  const prefix = resource.group === '' ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`;
  const plurals = byPath.get(prefix) ?? new Map<string, Resource>();
  byPath.set(prefix, plurals.set(resource.plural, resource));
}

/** Clients ask for the same things again and again. */
const MAX_REMEMBERED = 10_000;
const remembered = new Map<string, Routing>();

/** Undefined: no such path here. `isWatch` is the query's word for it. */
export function routeOf(method: string, path: string, isWatch: boolean): Routing {
  const id = `${method} ${isWatch ? 'watch' : 'once'} ${path}`;
  const known = remembered.get(id);
  if (known !== undefined) return known;
  const route = readRoute(method, path, isWatch);
  if (remembered.size >= MAX_REMEMBERED) remembered.clear();
  if (path.length < 512) remembered.set(id, route);
  return route;
}

function readRoute(method: string, path: string, isWatch: boolean): Routing {
  const segments = split(path);
  if (!segments) return undefined;
  const groupLength = segments[0] === 'api' ? 2 : 3;
  const plurals = byPath.get(`/${segments.slice(0, groupLength).join('/')}`);
  const rest = segments.slice(groupLength);
  if (!plurals || rest.length === 0) return undefined;
  const isWatchPath = rest[0] === 'watch';
  const target = targetOf(isWatchPath ? rest.slice(1) : rest, plurals);
  if (!target) return undefined;
  const route = verbOn(target, method, isWatch);
  return isWatchPath && route && 'resource' in route && isRead(route) ? { ...route, verb: 'watch' } : route;
}

function isRead(route: Route | Misroute): route is Route {
  return !('is' in route) && (route.verb === 'get' || route.verb === 'list');
}

function verbOn(target: Target, method: string, isWatch: boolean): Routing {
  const { resource, name, namespace, subresource } = target;
  const verb = isNamedCreation(target, method) ? 'create' : verbOf(method, name !== undefined, isWatch);
  const of = { resource, ...(name === undefined ? {} : { name }) };
  const served = verbsOf(target);
  if (!served) return { is: 'no such subresource', ...of, verb: verb ?? '' };
  // Across all namespaces one can only look.
  if (resource.isNamespaced && namespace === undefined && verb !== 'list' && verb !== 'watch') return undefined;
  if (verb) return served.includes(verb) ? { verb, ...target } : { is: 'no such method', ...of, verb };
  const isNameMissing = subresource === undefined && (method === 'PUT' || method === 'PATCH');
  return { is: isNameMissing ? 'name missing' : 'no such method', ...of, verb: methodVerb(method) };
}

/** Custom resources may be created on the name they are to have; and what is done to a pod is created on it. */
function isNamedCreation(target: Target, method: string): boolean {
  const { resource, name, subresource } = target;
  if (method !== 'POST' || name === undefined) return false;
  return subresource === undefined ? resource.stored?.crd !== undefined : verbsOf(target)?.includes('create') === true;
}

function verbsOf({ resource, subresource }: Target): readonly string[] | undefined {
  return subresource === undefined ? resource.verbs : resource.subresources.find(({ name }) => name === subresource)?.verbs;
}

function methodVerb(method: string): Route['verb'] | '' {
  return method === 'POST' ? 'create' : '';
}

function split(path: string): string[] | undefined {
  const trimmed = path.endsWith('/') ? path.slice(1, -1) : path.slice(1);
  if (!trimmed.includes('%')) return trimmed.split('/');
  try {
    return trimmed.split('/').map(decodeURIComponent);
  } catch {
    // A percent sign that encodes nothing names nothing.
    return undefined;
  }
}

type Target = Omit<Route, 'verb'>;

/** Below a namespace's name, these are the namespace's own. */
const OF_NAMESPACE = ['finalize', 'status'];

/** `namespaces/NS/teams/NAME/status`, `teams`, `namespaces/NAME`: the first is a scope when more than an object's own parts follow it. */
function targetOf(rest: readonly string[], plurals: ReadonlyMap<string, Resource>): Target | undefined {
  if (rest.includes('')) return undefined;
  const isScoped = rest[0] === 'namespaces' && rest.length > 2 && !OF_NAMESPACE.includes(rest[2] as string);
  const [plural = '', name, subresource, ...more] = isScoped ? rest.slice(2) : rest;
  const resource = plurals.get(plural);
  if (!resource || more.length > 0) return undefined;
  const isInPlace = isScoped ? resource.isNamespaced : !resource.isNamespaced || name === undefined;
  if (!isInPlace) return undefined;
  return {
    resource,
    ...(isScoped ? { namespace: rest[1] as string } : {}),
    ...(name ? { name } : {}),
    ...(subresource ? { subresource } : {}),
  };
}

const OBJECT_VERBS: Readonly<Record<string, Route['verb']>> = { GET: 'get', HEAD: 'get', PUT: 'update', PATCH: 'patch', DELETE: 'delete' };
const COLLECTION_VERBS: Readonly<Record<string, Route['verb']>> = {
  GET: 'list',
  HEAD: 'list',
  POST: 'create',
  DELETE: 'deletecollection',
};

function verbOf(method: string, hasName: boolean, isWatch: boolean): Route['verb'] | undefined {
  const verbs = hasName ? OBJECT_VERBS : COLLECTION_VERBS;
  const verb = Object.hasOwn(verbs, method) ? verbs[method] : undefined;
  return isWatch && verb === 'list' ? 'watch' : verb;
}
