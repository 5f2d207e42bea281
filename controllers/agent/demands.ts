/** What an Agent asks for that this version cannot give. Starting without it would be a promise broken in silence. Pure. */
import type { Agent } from '#api/types.ts';
import { StalledError } from '#lib/errors.ts';

export function unmetDemand({ spec }: Agent): StalledError | undefined {
  if (spec.backend !== 'shell') {
    return new StalledError('BackendMissing', `this version has the backend shell and not ${spec.backend}; set backend: shell`);
  }
  const unsupported = [
    ...((spec.envFrom ?? []).length > 0 ? ['spec.envFrom'] : []),
    ...((spec.portForwards ?? []).length > 0 ? ['spec.portForwards'] : []),
    ...(spec.desiredState === 'Suspended' ? ['spec.desiredState Suspended'] : []),
  ];
  if (unsupported.length === 0) return undefined;
  return new StalledError('NotSupportedYet', `this version does not act on ${unsupported.join(', ')}; remove it to start the agent`);
}
