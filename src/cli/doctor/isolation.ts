/** All of it put together: how the agents of a daemon started here would be isolated. */
import type { IsolationHere } from '../command.ts';
import { type Check, type Finding, missing, ok } from './check.ts';

export function isolationCheck(inspect: () => Promise<IsolationHere>): Check {
  return {
    name: 'agents',
    isNeeded: false,
    purpose: 'running agents apart from the machine and from each other',
    look: async () => judgeIsolation(await inspect()),
  };
}

export function judgeIsolation({ sandbox, network }: IsolationHere): Finding {
  if (sandbox.mode === 'unavailable') {
    const fix = { install: 'bubblewrap' } as const;
    return missing(`plain processes only, not isolated: ${sandbox.reason}`, sandbox.reason.includes('not installed') ? fix : undefined);
  }
  const own = sandbox.mode === 'root' ? 'a user id per team' : 'your own user id';
  const links = network.mode === 'nftables' ? 'network rules by nftables' : `no network but the proxy (${network.reason})`;
  return ok(`sandboxes with ${own}, ${links}, limits by ${sandbox.limits}`);
}
