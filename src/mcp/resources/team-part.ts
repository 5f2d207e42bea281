/** What a team has exactly one of: itself, its board, its status, its messages. */
import type { Team } from '#api/types.ts';
import type { Asking, Resource } from '../resource.ts';
import { type Source, together } from './changes.ts';
import { completeName } from './complete.ts';
import { findTeam } from './find.ts';
import { namespaceOf, teamTemplate, uriIn } from './place.ts';

export interface TeamPart extends Pick<Resource, 'name' | 'title' | 'description' | 'mimeType'> {
  /** Below the team's own address; empty for itself. */
  readonly below: string;
  /** Whether this caller is told that it is there; everybody when absent. */
  readonly isFor?: (asking: Asking) => boolean;
  read(team: Team, asking: Asking): Promise<string>;
  sources(team: Team): readonly Source[];
}

export function teamPart({ below, isFor = () => true, read, sources, ...about }: TeamPart): Resource {
  const uriTemplate = teamTemplate(below);
  const { mimeType, title } = about;
  return {
    ...about,
    uriTemplate,
    async list(asking) {
      if (!isFor(asking)) return [];
      const { items } = await asking.client.list<Team>('Team');
      return items.map(({ metadata: { name, namespace } }) => ({
        uri: uriIn(uriTemplate, namespace, { team: name }),
        name: `${name}${below}`,
        title: `${title} ${name}`,
        mimeType,
      }));
    },
    read: async (values, asking) => read(await findTeam(asking, namespaceOf(values), values['team'] ?? ''), asking),
    async *changes(values, asking) {
      yield* together(sources(await findTeam(asking, namespaceOf(values), values['team'] ?? '')), asking);
    },
    complete: completeName,
  };
}
