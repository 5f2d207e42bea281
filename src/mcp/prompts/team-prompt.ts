/** Prompts about one team that is there: which one, and what is known of it. */
import type { Team } from '#api/types.ts';
import type { View } from '#client/why/view.ts';
import type { Prompt, PromptArgument } from '../prompt.ts';
import type { Asking } from '../resource.ts';
import { completeName } from '../resources/complete.ts';
import { findTeam } from '../resources/find.ts';
import { namespaceOf } from '../resources/place.ts';
import { viewAround } from '../resources/team-status.ts';
import { given, needed } from './words.ts';

export interface KnownTeam {
  readonly team: Team;
  readonly view: View;
  /** For calls of tools: `team: "sprint"`, with the namespace where it is not the usual one. */
  readonly inCalls: string;
}

const TEAM: PromptArgument = { name: 'team', description: 'Name of the team.', required: true };
const NAMESPACE: PromptArgument = { name: 'namespace', description: 'Namespace of the team. Default: default.', required: false };

export interface TeamPrompt extends Pick<Prompt, 'name' | 'title' | 'description' | 'arguments'> {
  render(known: KnownTeam, values: Readonly<Record<string, string>>, asking: Asking): string | Promise<string>;
}

export function teamPrompt({ render, arguments: more, ...about }: TeamPrompt): Prompt {
  return {
    ...about,
    arguments: [TEAM, ...more, NAMESPACE],
    async render(values, asking) {
      const namespace = given(values, 'namespace');
      const place = namespace === undefined ? {} : { namespace };
      const team = await findTeam(asking, namespaceOf(place), needed(values, 'team'));
      const known = { team, view: await viewAround(team, asking), inCalls: inCalls(team) };
      return render(known, values, asking);
    },
    complete: async (name, typed, asking, known = {}) =>
      name === 'team' || name === 'namespace' ? completeName(name, typed, asking, known) : [],
  };
}

function inCalls({ metadata: { name, namespace } }: Team): string {
  return namespace === 'default' ? `team: "${name}"` : `team: "${name}", namespace: "${namespace}"`;
}
