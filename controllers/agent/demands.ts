/** What an Agent asks for that this version cannot give. Starting without it would be a promise broken in silence. Pure. */
import type { Agent } from '#api/types.ts';
import { StalledError } from '#lib/errors.ts';

export function unmetDemand({ spec }: Agent): StalledError | undefined {
  if (spec.desiredState !== 'Suspended') return undefined;
  const message = 'this version does not act on spec.desiredState Suspended; remove it to start the agent';
  return new StalledError('NotSupportedYet', message);
}
