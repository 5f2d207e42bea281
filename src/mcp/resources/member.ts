/** Agents, Tasks and Merges of a team, each at its short name, as the YAML that could be applied again. */
import type { KindObject } from '#api/meta.ts';
import type { Resource } from '../resource.ts';
import type { UriValues } from '../uri-template.ts';
import { named, together } from './changes.ts';
import { completeName } from './complete.ts';
import { findMember, type MemberName } from './find.ts';
import { namespaceOf, shortNameOf, teamOf, teamTemplate, uriIn } from './place.ts';
import { yamlOf } from './quoted.ts';

export function memberResource(kind: MemberName['kind'], description: string): Resource {
  const word = kind.toLowerCase();
  const uriTemplate = teamTemplate(`/${word}s/{${word}}`);
  const mimeType = 'application/yaml';
  const wanted = (values: UriValues): MemberName => ({
    kind,
    namespace: namespaceOf(values),
    team: values['team'] ?? '',
    name: values[word] ?? '',
  });
  return {
    uriTemplate,
    name: word,
    title: `${kind} of a team`,
    description,
    mimeType,
    async list({ client }) {
      const { items } = await client.list<KindObject>(kind);
      return items.map((item) => {
        const [team, short] = [teamOf(item), shortNameOf(item)];
        const uri = uriIn(uriTemplate, item.metadata.namespace, { team, [word]: short });
        return { uri, name: `${team}/${short}`, title: `${kind} ${short} of team ${team}`, mimeType };
      });
    },
    read: async (values, asking) => yamlOf(await findMember(asking, wanted(values))),
    async *changes(values, asking) {
      const { metadata } = await findMember(asking, wanted(values));
      yield* together([named(kind, metadata.namespace, metadata.name)], asking);
    },
    complete: completeName,
  };
}
