/** What may be filled into an address: names that are there and begin with what was typed. */
import { DEFAULT_NAMESPACE, type KindObject } from '#api/meta.ts';
import type { Asking } from '../resource.ts';
import type { UriValues } from '../uri-template.ts';
import { membersOf } from './find.ts';
import { namespaceOf, shortNameOf } from './place.ts';

const MOST = 100;

const MEMBERS: Readonly<Record<string, string>> = { agent: 'Agent', task: 'Task', merge: 'Merge' };

export async function completeName(name: string, typed: string, asking: Asking, known: UriValues = {}): Promise<readonly string[]> {
  return beginning(typed, await namesFor(name, asking, known));
}

export function beginning(typed: string, names: Iterable<string>): readonly string[] {
  return [...new Set(names)]
    .filter((name) => name.startsWith(typed))
    .sort()
    .slice(0, MOST);
}

async function namesFor(name: string, { client }: Asking, known: UriValues): Promise<readonly string[]> {
  const kind = MEMBERS[name];
  if (kind !== undefined) {
    const { team } = known;
    const where = team === undefined ? { namespace: namespaceOf(known) } : membersOf(namespaceOf(known), team);
    return (await client.list<KindObject>(kind, where)).items.map(shortNameOf);
  }
  if (name === 'team') return (await client.list('Team', { namespace: namespaceOf(known) })).items.map(({ metadata }) => metadata.name);
  if (name === 'namespace') return [DEFAULT_NAMESPACE, ...(await client.list('Team')).items.map(({ metadata }) => metadata.namespace)];
  return [];
}
