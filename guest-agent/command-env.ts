/** The environment of a command: a few names of the guest's own, then what the caller gave. */

const INHERITED = ['PATH', 'HOME', 'LANG', 'TERM', 'SHELL'];
/** They decide which code the shell and the loader run. */
const BLOCKED = /^(?:PATH|IFS|ENV|BASH_ENV|LD_.*)$/;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

export type Environment = Readonly<Record<string, string | undefined>>;

export function inheritedEnv(env: Environment): Record<string, string> {
  return Object.fromEntries(INHERITED.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}

/** Throws naming the first variable that may not be set. */
export function checkEnv(env: Readonly<Record<string, string>>): void {
  for (const name of Object.keys(env)) {
    if (BLOCKED.test(name)) throw new Error(`environment variable ${name} may not be set`);
    if (!NAME.test(name)) throw new Error(`environment variable name ${JSON.stringify(name)} is not valid`);
  }
}
