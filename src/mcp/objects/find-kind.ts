/** Which resource a word means, as kubectl understands it: Team, teams, tm, teams.agentiso.dev. */
import type { ApiResource, Discovery } from '#client/discovery.ts';
import { knownDiscovery } from '#client/discovery-load.ts';
import { InvalidError, isCode, messageOf } from '#lib/errors.ts';

let known: Discovery | undefined;

/** This daemon's own: made once. */
export function discovery(): Discovery {
  known ??= knownDiscovery();
  return known;
}

/** Throws Invalid with the nearest word. */
export function findKind(word: string, verb?: 'get' | 'list' | 'watch' | 'delete'): ApiResource {
  const resource = found(word);
  if (verb === undefined || resource.verbs.includes(verb)) return resource;
  throw refused(`${resource.plural} cannot be used with ${verb}`);
}

function found(word: string): ApiResource {
  try {
    return discovery().find(word);
  } catch (error) {
    if (!isCode(error, 'NotFound')) throw error;
    throw refused(messageOf(error).replace("the server doesn't have a resource type", 'there is no kind'), error);
  }
}

function refused(message: string, cause?: unknown): InvalidError {
  const hint = 'kinds: Team, Agent, Task, Merge, Snapshot, Event, Namespace, ConfigMap, Pod';
  return new InvalidError(message, [{ path: 'kind', segments: ['kind'], kind: 'Invalid', message }], { hint, cause });
}
