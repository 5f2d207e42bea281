/** The way to the daemon's MCP socket: opened, lost, and opened again as soon as a daemon listens there. */
import { type FSWatcher, watch } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { backoffMs } from '#lib/backoff.ts';
import { socketPath } from '#lib/socket-path.ts';
import { intoOneBuffer, type OnLent } from './lent-bytes.ts';

const SOCKET = 'mcp.sock';
const BACKOFF = { baseMs: 50, maxMs: 2_000 };

/** What comes out of it is read at once. */
export function openSocket(home: string, onBytes: OnLent): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const short = socketPath(join(home, SOCKET));
    const socket = connect({ path: short.path, onread: intoOneBuffer(onBytes) });
    // Once: the number of the folder may be that of something else afterwards.
    const settle = (error?: Error) => {
      socket.off('connect', settle).off('error', settle);
      short.release();
      if (error) reject(error);
      else resolve(socket);
    };
    socket.on('connect', settle).on('error', settle);
  });
}

/** Until there is one, or the signal aborts: then undefined. */
export async function awaitSocket(home: string, onBytes: OnLent, signal: AbortSignal): Promise<Socket | undefined> {
  for (let failures = 0; !signal.aborted; failures++) {
    try {
      return await openSocket(home, onBytes);
    } catch {
      await changeOrPause(home, backoffMs(failures, BACKOFF), signal);
    }
  }
  return undefined;
}

/** A socket that appears is seen at once; one that was there before its daemon listens, after the pause. */
function changeOrPause(home: string, pauseMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const watcher = watcherOf(home, (name) => {
      if (name === SOCKET) go();
    });
    const go = () => {
      clearTimeout(timer);
      watcher?.close();
      signal.removeEventListener('abort', go);
      resolve();
    };
    const timer = setTimeout(go, pauseMs);
    signal.addEventListener('abort', go, { once: true });
  });
}

/** Without a folder there is nothing to watch, and the pause has to do. */
function watcherOf(home: string, onName: (name: string | null) => void): FSWatcher | undefined {
  try {
    return watch(home, (_, name) => onName(name)).on('error', () => {});
  } catch {
    return undefined;
  }
}
