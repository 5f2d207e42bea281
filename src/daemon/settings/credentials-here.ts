/** For which providers there is a credential: as the daemon of a home says, or, where none runs, as one that is started now would find. */
import { resolve } from 'node:path';
import type { CredentialsHere } from '#cli/command.ts';
import { askDesk } from '#client/desk.ts';
import { findHome, openTarget } from '#client/target.ts';
import { AgentisoError } from '#lib/errors.ts';
import { silentLogger } from '#lib/log.ts';
import { Redactor } from '#lib/redact.ts';
import { KNOWN_PROVIDERS } from '#providers/catalogue.ts';
import { type CredentialView, credentialsPath, openCredentials, viewOf } from '#providers/credential-file.ts';

export interface Asking {
  /** As given; absent: as all commands find it. */
  readonly home: string | undefined;
  readonly cwd: string;
  readonly variable: (name: string) => string | undefined;
}

export async function credentialsHere({ home, cwd, variable }: Asking): Promise<CredentialsHere> {
  const environment = { cwd, userHome: cwd, home: variable('AGENTISO_HOME') };
  const place = resolve(cwd, findHome({ home, environment }));
  const said = await askDaemon(place, environment);
  const view = said ?? viewOf(openCredentials({ home: place, environment: variable, redactor: new Redactor(), log: silentLogger }));
  const names = [...new Set([...Object.keys(KNOWN_PROVIDERS), ...view.providers.map(({ name }) => name)])];
  return {
    file: credentialsPath(place),
    isDaemon: said !== undefined,
    providers: names.map((name) => {
      const from = view.providers.find((each) => each.name === name)?.from;
      return { name, variables: KNOWN_PROVIDERS[name]?.keyVariables ?? [], ...(from && { from }) };
    }),
    ...(view.problem !== undefined && { problem: view.problem }),
  };
}

async function askDaemon(home: string, environment: Parameters<typeof openTarget>[0]['environment']): Promise<CredentialView | undefined> {
  const { connection } = await openTarget({ home, environment });
  try {
    return await askDesk<CredentialView>(connection, { method: 'GET', path: '/providers' });
  } catch (error) {
    // None runs, it is an older one, or somebody else's.
    if (error instanceof AgentisoError) return undefined;
    throw error;
  } finally {
    connection.close();
  }
}
