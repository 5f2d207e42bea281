/** The directory that everything is kept in: writable, with room, watchable, and not too deep for a socket. */
import { accessSync, constants, existsSync, readFileSync, statfsSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { broken, type Check, type Finding, ok } from './check.ts';

const MIB = 1024 * 1024;
const LEAST_FREE_BYTES = 1024 * MIB;
const LEAST_WATCHES = 8_192;
const LEAST_INSTANCES = 64;
/** Of a unix socket's path, by the kernel. */
const MAX_SOCKET_BYTES = 107;

export function homeChecks(home: string, cwd: string): readonly Check[] {
  const path = resolve(cwd, home);
  return [
    { name: 'home', isNeeded: true, purpose: 'resources, results and the work of agents', look: async () => judgeHome(path) },
    { name: 'disk', isNeeded: false, purpose: 'workspaces and images', look: async () => judgeDisk(freeBytes(path)) },
    { name: 'inotify', isNeeded: false, purpose: 'taking in edits of files at once', look: async () => judgeInotify(readLimit) },
    { name: 'socket', isNeeded: false, purpose: 'commands that reach the daemon', look: async () => judgeSocket(path, cwd) },
  ];
}

/** It need not exist yet: then the folder it will be made in counts. */
function judgeHome(path: string): Finding {
  const existing = nearestExisting(path);
  if (!statSync(existing).isDirectory())
    return broken(`${existing} is a file, not a folder`, { advice: 'choose another one with --home DIR' });
  try {
    accessSync(existing, constants.W_OK | constants.X_OK);
  } catch {
    return broken(`${existing} cannot be written to`, {
      advice: `choose another one with --home DIR, or: chown ${userName()} ${existing}`,
    });
  }
  return ok(existing === path ? `${path} is writable` : `${path} can be made`);
}

export function judgeDisk(free: number): Finding {
  const text = free < 1024 * MIB ? `${Math.floor(free / MIB)} MiB free` : `${(free / MIB / 1024).toFixed(1)} GiB free`;
  return free < LEAST_FREE_BYTES ? broken(text, { advice: 'make room, or choose another disk with --home DIR' }) : ok(text);
}

export function judgeInotify(limit: (name: string) => number | undefined): Finding {
  const [watches, instances] = [limit('max_user_watches'), limit('max_user_instances')];
  if (watches === undefined || instances === undefined) return ok('limits unknown');
  const detail = `${watches} watches, ${instances} instances`;
  if (watches < LEAST_WATCHES) return broken(detail, { advice: 'sysctl fs.inotify.max_user_watches=524288' });
  return instances < LEAST_INSTANCES ? broken(detail, { advice: 'sysctl fs.inotify.max_user_instances=512' }) : ok(detail);
}

export function judgeSocket(home: string, cwd: string): Finding {
  const paths = [join(home, 'agentiso.sock'), relative(cwd, join(home, 'agentiso.sock'))];
  const bytes = Math.min(...paths.map((path) => Buffer.byteLength(path)));
  if (bytes <= MAX_SOCKET_BYTES) return ok(`${bytes} of ${MAX_SOCKET_BYTES} bytes`);
  return broken(`its path has ${bytes} bytes, and a socket's may have ${MAX_SOCKET_BYTES}`, {
    advice: 'choose a shorter --home, or go to a folder nearer to it',
  });
}

function freeBytes(path: string): number {
  const { bavail, bsize } = statfsSync(nearestExisting(path));
  return bavail * bsize;
}

function nearestExisting(path: string): string {
  return existsSync(path) || path === dirname(path) ? path : nearestExisting(dirname(path));
}

function readLimit(name: string): number | undefined {
  try {
    return Number(readFileSync(`/proc/sys/fs/inotify/${name}`, 'utf8'));
  } catch {
    // Not Linux.
    return undefined;
  }
}

function userName(): string {
  return String(process.getuid?.() ?? '$USER');
}
