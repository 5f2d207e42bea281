/** setEnv: names for every later command, in memory only. */
import type { ControlHandler } from '#protocol/control.ts';
import { checkEnv } from '../command-env.ts';

export function setEnvHandler(names: Map<string, string>): ControlHandler<'setEnv'> {
  return async ({ env }) => {
    checkEnv(env);
    for (const [name, value] of Object.entries(env)) names.set(name, value);
    return {};
  };
}
