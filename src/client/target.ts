/** Which server a command talks to: the daemon of this folder, or a cluster that a kubeconfig names. */
import { statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { StalledError } from '#lib/errors.ts';
import type { JsonObject } from '#lib/json.ts';
import { socketPath } from '#lib/socket-path.ts';
import type { Connection, TlsOptions } from './connection.ts';
import { httpConnection } from './http-connection.ts';
import {
  inlineOrFile,
  type KubeUser,
  type Named,
  readKubeconfig,
  readText,
  relativeTo,
  type Selected,
  selectContext,
} from './kubeconfig.ts';
import { ownerOf } from './owner.ts';
import { shellWord } from './shell-word.ts';
import { socketConnection } from './socket-connection.ts';

export interface TargetChoice {
  /** --home. */
  readonly home?: string | undefined;
  /** --context and --kubeconfig: only these lead to a cluster elsewhere, never the environment alone. */
  readonly context?: string | undefined;
  readonly kubeconfig?: string | undefined;
  readonly environment: TargetEnvironment;
}

export interface TargetEnvironment {
  readonly cwd: string;
  readonly userHome: string;
  /** $AGENTISO_HOME. */
  readonly home?: string | undefined;
  /** $KUBECONFIG. */
  readonly kubeconfig?: string | undefined;
}

export interface Target {
  readonly connection: Connection;
  /** Where objects are when no namespace is given. */
  readonly namespace: string;
  /** Our own daemon: what it serves is known without asking. */
  readonly isDaemon: boolean;
}

const SOCKET = 'agentiso.sock';
const FOLDER = '.agentiso';

export async function openTarget(choice: TargetChoice): Promise<Target> {
  if (choice.context === undefined && choice.kubeconfig === undefined) return openDaemon(findHome(choice), choice.environment.cwd);
  const { kubeconfig, environment } = choice;
  const config = await readKubeconfig({ given: kubeconfig, fromEnvironment: environment.kubeconfig, userHome: environment.userHome });
  const selected = selectContext(config, choice.context);
  return { connection: await openCluster(selected), namespace: selected.context.value.namespace ?? 'default', isDaemon: false };
}

/** As git finds .git: the folder of the nearest parent that has one. */
export function findHome({ home, environment }: Pick<TargetChoice, 'home' | 'environment'>): string {
  const given = home ?? environment.home;
  if (given !== undefined && given !== '') return given;
  for (let folder = environment.cwd; ; folder = dirname(folder)) {
    if (isFolder(join(folder, FOLDER))) return relative(environment.cwd, join(folder, FOLDER)) || FOLDER;
    if (folder === dirname(folder)) return FOLDER;
  }
}

function openDaemon(home: string, cwd: string): Target {
  const { path } = socketPath(shorter(join(home, SOCKET), resolve(cwd, home, SOCKET)));
  const connection = socketConnection({
    name: home,
    socketPath: path,
    whenUnavailable: (cause) => noDaemon(home, cause),
  });
  return { connection, namespace: 'default', isDaemon: true };
}

const LOST = ['ECONNRESET', 'EPIPE'];

/** A daemon that nobody may ask is not one that does not run. */
export function noDaemon(home: string, { code = '', message }: NodeJS.ErrnoException): string {
  if (code === 'EACCES' || code === 'EPERM') {
    const owner = ownerOf(home);
    return `you may not use the daemon of ${home}${owner ? `: it belongs to ${owner}` : ''}`;
  }
  const isAbsent = ['ENOENT', 'ECONNREFUSED', 'ENOTDIR'].includes(code);
  const start = `start one with: agentiso serve${home === FOLDER ? '' : ` --home ${shellWord(home)}`}`;
  if (isAbsent) return `no daemon answers at ${home} (${start})`;
  return LOST.includes(code) ? `the daemon at ${home} has ended (${start})` : `the daemon at ${home} does not answer: ${message}`;
}

/** The path of a socket may have 107 bytes at most; a longer one costs a detour. */
function shorter(a: string, b: string): string {
  return Buffer.byteLength(a) <= Buffer.byteLength(b) ? a : b;
}

async function openCluster({ cluster, user }: Selected): Promise<Connection> {
  const { server } = cluster.value;
  if (!server) throw new StalledError('NoServer', `cluster "${cluster.name}" of the kubeconfig names no server`);
  const authorization = user && authorizationOf(user);
  return httpConnection({
    name: server,
    url: server,
    tls: tlsOf(cluster as Named<JsonObject>, user as Named<JsonObject> | undefined),
    ...(authorization ? { headers: { authorization } } : {}),
    whenUnavailable: (cause) =>
      cause.code === 'ECONNREFUSED'
        ? `The connection to the server ${new URL(server).host} was refused - did you specify the right host or port?`
        : `Unable to connect to the server: ${cause.message}`,
  });
}

function tlsOf(cluster: Named<JsonObject>, user: Named<JsonObject> | undefined): TlsOptions {
  const ca = inlineOrFile(cluster, 'certificate-authority');
  const cert = user && inlineOrFile(user, 'client-certificate');
  const key = user && inlineOrFile(user, 'client-key');
  const servername = cluster.value['tls-server-name'];
  return {
    isUnverified: cluster.value['insecure-skip-tls-verify'] === true,
    ...(ca ? { ca } : {}),
    ...(cert ? { cert } : {}),
    ...(key ? { key } : {}),
    ...(typeof servername === 'string' ? { servername } : {}),
  };
}

function authorizationOf({ name, value, file }: Named<KubeUser>): string | undefined {
  const { token, tokenFile, username, password, exec } = value;
  if (exec !== undefined || value['auth-provider'] !== undefined) {
    throw new StalledError(
      'NotSupported',
      `user "${name}" of the kubeconfig gets its credentials from a plugin, which agentiso does not run`,
      {
        hint: 'use kubectl with this context, or a user with a token or a client certificate',
      },
    );
  }
  if (tokenFile) return `Bearer ${readText(relativeTo(file, tokenFile)).trim()}`;
  if (token) return `Bearer ${token}`;
  if (username) return `Basic ${Buffer.from(`${username}:${password ?? ''}`).toString('base64')}`;
  return undefined;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
