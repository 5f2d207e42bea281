/** The environment of a command: a few names of the guest's own, then what the caller gave. */
import { ProtocolError } from '#protocol/protocol-error.ts';

const INHERITED = ['PATH', 'HOME', 'LANG', 'TERM', 'SHELL', 'AGENTISO_TOOLS'];
/** They decide which code the shell and the loader run. */
const BLOCKED = /^(?:PATH|IFS|ENV|BASH_ENV|LD_.*)$/;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

export type Environment = Readonly<Record<string, string | undefined>>;

export function inheritedEnv(env: Environment): Record<string, string> {
  return Object.fromEntries(INHERITED.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}

/** Where `egress` listens; what lies on the team's own network needs no proxy. */
export function proxyEnv(port: number): Record<string, string> {
  const proxy = `http://127.0.0.1:${port}`;
  const direct = 'localhost,127.0.0.0/8,127.0.0.1,::1,10.99.0.0/16';
  const upper = { HTTP_PROXY: proxy, HTTPS_PROXY: proxy, NO_PROXY: direct };
  return { ...upper, http_proxy: proxy, https_proxy: proxy, no_proxy: direct };
}

/** Where programs find providers of models: a base URL is this and the name of one, a key anything at all. */
export function providersEnv(port: number): Record<string, string> {
  return { AGENTISO_PROVIDERS_URL: `http://127.0.0.1:${port}/agentiso/providers` };
}

const USUAL_PATH = '/usr/local/bin:/usr/bin:/bin';

export interface TeamPlaces {
  /** As it is without. */
  readonly path: string | undefined;
  readonly binDir: string;
  readonly socket: string;
  /** What runs the command `team`. */
  readonly node: string;
}

/** How programs find the command `team`, and it the guest. At the end of PATH: what the workspace calls by the same name is meant then. */
export function teamEnv({ path, binDir, socket, node }: TeamPlaces): Record<string, string> {
  return { PATH: `${path || USUAL_PATH}:${binDir}`, AGENTISO_SOCKET: socket, AGENTISO_NODE: node };
}

/** Throws naming the first variable that may not be set. */
export function checkEnv(env: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(env)) {
    if (BLOCKED.test(name)) throw new ProtocolError('Forbidden', `environment variable ${name} may not be set`);
    if (!NAME.test(name)) {
      throw new ProtocolError('Invalid', `environment variable name ${JSON.stringify(name)} is not valid: letters, digits and _ are`);
    }
    if (value.includes('\0')) throw new ProtocolError('Invalid', `environment variable ${name} has a zero byte in its value`);
  }
}
