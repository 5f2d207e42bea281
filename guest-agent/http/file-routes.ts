/** Files of the workspace over HTTP. A peer reads anywhere below the root, and writes only into its own folder of what comes in. */
import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { MAX_FILE_BYTES } from '#protocol/control.ts';
import { ProtocolError } from '#protocol/protocol-error.ts';
import { openFile } from '../files/read.ts';
import { replaceFile } from '../files/write.ts';
import { relativeInWorkspace } from '../workspace-path.ts';
import { checkLength, contentOf } from './body.ts';
import type { Caller } from './caller.ts';
import type { Exchange, Reply } from './message-routes.ts';

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

export async function sendFile({ parts, route: { path } }: Exchange, response: ServerResponse): Promise<void> {
  const { root } = parts.guest;
  const { handle, stats } = await openFile({ root, path: toRelative(root, path) });
  try {
    if (stats.size > MAX_FILE_BYTES)
      throw new ProtocolError('TooLarge', `${path} has ${stats.size} bytes, over the limit of ${MAX_FILE_BYTES}`);
    response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': stats.size });
    if (stats.size === 0) response.end();
    // No further than it was when its length was promised.
    else await pipeline(handle.createReadStream({ autoClose: false, start: 0, end: stats.size - 1 }), response);
  } finally {
    await handle.close();
  }
}

export async function storeFile({ parts, request, route, caller }: Exchange): Promise<Reply> {
  const { root, syncFiles } = parts.guest;
  checkLength(request, MAX_FILE_BYTES);
  const path = toStoredPath(root, route.path, caller);
  const bytes = await replaceFile({ root, path }, contentOf(request), { makeParents: true });
  await syncFiles?.();
  return { status: 201, body: { path, bytes } };
}

/** Relative to the root. */
export function toStoredPath(root: string, path: string, caller: Caller): string {
  const relative = toRelative(root, path);
  if (relative === '') throw new ProtocolError('Invalid', 'a file needs a name');
  if (caller.kind === 'self') return relative;
  if (!NAME.test(caller.name)) throw new ProtocolError('Forbidden', `${caller.name} is no name for a folder`);
  return `incoming/${caller.name}/${relative}`;
}

/** Throws for what leaves the root as it is written; links are looked at when it is opened. */
function toRelative(root: string, path: string): string {
  if (path.includes('\0')) throw new ProtocolError('Invalid', 'a path has no zero bytes');
  return relativeInWorkspace(root, path);
}
