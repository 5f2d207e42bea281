/** The lines that give the daemon a credential, for people who have one. Pure. */
import type { BackendHere, CredentialsHere, ProviderHere } from './command.ts';

/** For the providers that backends need; none where all have one. Ends with a newline where it says anything. */
export function credentialAdvice(backends: readonly BackendHere[], { file, problem, providers, isDaemon }: CredentialsHere): string[] {
  const lacking = providers.filter(({ from }) => from === undefined).flatMap((each) => adviceFor(each, backends));
  const where = isDaemon ? 'The daemon has' : 'A daemon that is started here would have';
  const lines = [
    ...(problem === undefined ? [] : [`${file} is not used: ${problem}`]),
    ...(lacking.length === 0 ? [] : [`${where} no credential for these. Write below providers: in ${file}, mode 0600:`, ...lacking]),
  ];
  return lines.length === 0 ? [] : [...lines, ''];
}

function adviceFor(provider: ProviderHere, backends: readonly BackendHere[]): string[] {
  const needing = backends.filter((backend) => backend.provider === provider.name).map(({ name }) => name);
  return needing.length === 0 ? [] : [`  ${lineFor(provider)}   # ${needing.join(', ')}; or ${variablesOf(provider)} for agentiso serve`];
}

/** As it stands in the file. */
export function lineFor({ name }: ProviderHere): string {
  return `${name}: {apiKey: YOUR-KEY}`;
}

export function variablesOf({ variables }: ProviderHere): string {
  return `${variables[0]}=YOUR-KEY`;
}
