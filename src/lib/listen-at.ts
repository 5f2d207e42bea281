/**
 * A unix socket in a folder that somebody else may write to, such as an agent. Its rights and its owner are set where nobody can exchange it for
 * something else, and only then does it get its name.
 */
import { chmodSync, lchownSync, lstatSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import type { Server } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { messageOf, UnavailableError } from './errors.ts';
import { pinnedSocketPath } from './socket-path.ts';

export interface ListeningSocket {
  /** Whether the socket is still at its path. */
  isInPlace(): boolean;
  /** Resolves when nobody listens and the path is free, if it was still ours. */
  close(): Promise<void>;
}

/** The folder of `path` lies in one that only we may write to: that is where the socket is made. */
export async function listenAt(server: Server, path: string, uid: number | undefined): Promise<ListeningSocket> {
  try {
    const staging = mkdtempSync(join(dirname(dirname(path)), '.socket-'));
    try {
      return await listenVia(staging, server, path, uid);
    } finally {
      rmSync(staging, { recursive: true, force: true });
    }
  } catch (error) {
    throw new UnavailableError(`cannot listen on ${path}: ${messageOf(error)}`, { cause: error });
  }
}

async function listenVia(staging: string, server: Server, path: string, uid: number | undefined): Promise<ListeningSocket> {
  const staged = join(staging, basename(path));
  const pinned = pinnedSocketPath(staged);
  try {
    await listening(server, pinned.path);
    chmodSync(staged, 0o600);
    if (uid !== undefined) lchownSync(staged, uid, uid);
    const { ino, dev } = lstatSync(staged);
    renameSync(staged, path);
    const isInPlace = () => {
      const found = lstatSync(path, { throwIfNoEntry: false });
      return found !== undefined && found.ino === ino && found.dev === dev;
    };
    const close = async () => {
      await closed(server);
      pinned.release();
      if (isInPlace()) rmSync(path, { force: true });
    };
    return { isInPlace, close };
  } catch (error) {
    if (server.listening) await closed(server);
    pinned.release();
    throw error;
  }
}

function listening(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}
