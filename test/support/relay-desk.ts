/** A relay desk for tests and benchmarks that need only some of its verbs: the others are refused. */
import type { RelayDesk } from '#guest/create-sessions.ts';
import { AgentisoError } from '#lib/errors.ts';
import { relayToHost } from '#protocol/relay.ts';

export function answering(given: Partial<RelayDesk>): RelayDesk {
  const nothing = async () => Promise.reject(new AgentisoError('NotFound', 'nobody answers this here'));
  const verbs = Object.keys(relayToHost).filter((verb) => verb !== 'ping' && verb !== 'heartbeat');
  return { ...Object.fromEntries(verbs.map((verb) => [verb, nothing])), ...given } as unknown as RelayDesk;
}
