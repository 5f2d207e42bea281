/** Whether coding agents would reach their models: for which providers there is a credential. */
import type { CredentialsHere } from '../command.ts';
import { lineFor, variablesOf } from '../credential-advice.ts';
import { broken, type Check, type Finding, missing, ok } from './check.ts';

export function credentialCheck(inspect: () => Promise<CredentialsHere>): Check {
  return {
    name: 'credentials',
    isNeeded: false,
    purpose: 'models of coding agents',
    look: async () => judgeCredentials(await inspect()),
  };
}

export function judgeCredentials({ file, isDaemon, providers, problem }: CredentialsHere): Finding {
  if (problem !== undefined) return broken(`${file} is not used: ${problem}`);
  const known = providers.filter(({ from }) => from !== undefined).map(({ name }) => name);
  const lacking = providers.filter(({ from }) => from === undefined);
  const [first] = lacking;
  const who = isDaemon ? 'the daemon has' : 'a daemon would have';
  if (known.length > 0) {
    const rest = first ? `; none for ${lacking.map(({ name }) => name).join(', ')} (agentiso backends)` : '';
    return ok(`${who} one for ${known.join(', ')}${rest}`);
  }
  const advice = first
    ? `below providers: in ${file}, mode 0600, write ${lineFor(first)}; or start the daemon with ${variablesOf(first)}; agentiso backends says it for each`
    : 'agentiso backends';
  return missing(`${who} none`, { advice });
}
