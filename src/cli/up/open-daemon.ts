/** The daemon of a home: started here, or, when one runs there already, reached through its socket. */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '#client/client.ts';
import type { Connection } from '#client/connection.ts';
import { readKubeconfig, selectContext } from '#client/kubeconfig.ts';
import { remoteClient } from '#client/remote.ts';
import { getJson } from '#client/resource-api.ts';
import { openTarget } from '#client/target.ts';
import { AgentisoError, isCode } from '#lib/errors.ts';
import { environmentOf } from '../api-command.ts';
import type { CommandContext, StartOptions } from '../command.ts';
import { onHome } from '../unusable-home.ts';

export interface OpenDaemon {
  readonly client: Client;
  /** For what is no resource. */
  readonly connection: Connection;
  /** Absent when the daemon is somebody else's and has not said where it is. */
  readonly url: string | undefined;
  readonly kubeconfig: string;
  /** Ends with this command. */
  readonly isOurs: boolean;
  close(): Promise<void>;
}

/** A daemon that starts or stops has the lock, but does not answer. */
const WAIT_MS = 10_000;
const RETRY_MS = 200;

export async function openDaemon(options: StartOptions, context: CommandContext): Promise<OpenDaemon> {
  const deadline = Date.now() + WAIT_MS;
  for (;;) {
    const started = await startOrLock(options, context);
    if (!(started instanceof AgentisoError)) return started;
    const attached = await attach(options.home, context);
    if (attached) return attached;
    if (Date.now() > deadline || context.signal.aborted) throw started;
    await delay(RETRY_MS);
  }
}

/** A daemon, or the error that says who has the directory. */
async function startOrLock(options: StartOptions, context: CommandContext): Promise<OpenDaemon | AgentisoError> {
  try {
    const { client, url, kubeconfig, stop } = await onHome(options.home, () => context.startDaemon(options));
    const { connection } = await openTarget({ home: options.home, environment: environmentOf(context) });
    const close = async () => {
      connection.close();
      await stop();
    };
    return { client, connection, url, kubeconfig, isOurs: true, close };
  } catch (error) {
    if (error instanceof AgentisoError && error.reason === 'DirectoryLocked') return error;
    throw error;
  }
}

async function attach(home: string, context: CommandContext): Promise<OpenDaemon | undefined> {
  const environment = environmentOf(context);
  const { connection } = await openTarget({ home, environment });
  try {
    await getJson(connection, '/version');
  } catch (error) {
    connection.close();
    if (isCode(error, 'Unavailable')) return undefined;
    throw error;
  }
  const kubeconfig = join(home, 'kubeconfig');
  const url = await serverIn(kubeconfig, environment.userHome);
  return { client: remoteClient(connection), connection, url, kubeconfig, isOurs: false, close: async () => connection.close() };
}

async function serverIn(kubeconfig: string, userHome: string): Promise<string | undefined> {
  try {
    return selectContext(await readKubeconfig({ given: kubeconfig, userHome }), undefined).cluster.value.server;
  } catch (error) {
    if (error instanceof AgentisoError) return undefined;
    throw error;
  }
}
