/** Which routes there are, and who may use them. Pure. */
import { ProtocolError } from '#protocol/protocol-error.ts';
import { HttpError } from './http-error.ts';

const FILES = '/files/';

export type RouteName = 'health' | 'card' | 'readMessages' | 'sendMessage' | 'createTask' | 'readFile' | 'writeFile' | 'mcp';

export interface Route {
  readonly name: RouteName;
  readonly access: 'anyone' | 'team' | 'self';
  /** Of a file; empty elsewhere. */
  readonly path: string;
  readonly query: URLSearchParams;
}

type Methods = Readonly<Record<string, Pick<Route, 'name' | 'access'>>>;

const sendMessage = { name: 'sendMessage', access: 'team' } as const;
const ROUTES: Readonly<Record<string, Methods>> = {
  '/health': { GET: { name: 'health', access: 'anyone' } },
  '/card': { GET: { name: 'card', access: 'team' } },
  '/messages': { GET: { name: 'readMessages', access: 'self' }, POST: sendMessage },
  '/message': { POST: sendMessage },
  '/task': { POST: { name: 'createTask', access: 'team' } },
  '/mcp': { POST: { name: 'mcp', access: 'self' } },
};
const FILE_METHODS: Methods = { GET: { name: 'readFile', access: 'team' }, POST: { name: 'writeFile', access: 'team' } };

export function findRoute(method: string, url: string): Route {
  const [pathname = '', search = ''] = url.split('?', 2);
  const isFile = pathname.startsWith(FILES) && pathname.length > FILES.length;
  const methods = isFile ? FILE_METHODS : Object.hasOwn(ROUTES, pathname) ? ROUTES[pathname] : undefined;
  if (methods === undefined) {
    throw new HttpError(404, {
      code: 'NotFound',
      message: `there is no ${pathname}`,
      hint: `there are ${[...Object.keys(ROUTES), '/files/{path}'].join(', ')}`,
    });
  }
  const found = Object.hasOwn(methods, method) ? methods[method] : undefined;
  if (found === undefined) {
    const allowed = Object.keys(methods).join(', ');
    const body = { code: 'MethodNotAllowed', message: `${pathname} does not take ${method}`, hint: `it takes ${allowed}` };
    throw new HttpError(405, body, { allow: allowed });
  }
  return { ...found, path: isFile ? decodePath(pathname.slice(FILES.length)) : '', query: new URLSearchParams(search) };
}

/** Decoded once, as a whole: what is written as %2F or %2E counts as what it means. */
function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch (error) {
    throw new ProtocolError('Invalid', `${path} is not a path: % must stand before two hex digits of UTF-8`, error);
  }
}
