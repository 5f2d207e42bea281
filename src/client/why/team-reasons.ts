/** What keeps a Team from being made until somebody changes something; anything else it says is about its agents. Pure. */
import type { Condition } from '#api/meta.ts';
import type { Team } from '#api/types.ts';
import { commandOf, edit, patch } from './commands.ts';
import { type Advice, type Finding, leadingTo, stuck } from './finding.ts';
import { findTeam, type View } from './view.ts';
import { idOf, listed, wordsOf } from './words.ts';

const SAYS = 'is not Ready';

export function lookAtStalled(team: Team, condition: Condition, view: View): Finding | undefined {
  const because = wordsOf(condition);
  switch (condition.reason) {
    case 'NotSupportedYet':
      return stuck(SAYS, because, unsupported(team, condition, view));
    case 'NameTaken':
      return stuck(SAYS, because, nameTaken(team, condition, view));
    case 'QuotaExceeded':
      return stuck(SAYS, because, quota(team, condition, view));
    case 'DepthExceeded':
      return stuck(SAYS, because, {
        text: 'raise budget.maxDepth of the team at the top (or limits.maxNestingDepth of the daemon), or make it below a team further up',
      });
    case 'ParentNotFound':
      return stuck(SAYS, because, { text: 'apply a manifest of the parent' });
    case 'ParentTerminating':
      return parentLeaves(team, because, view);
    case 'Suspended':
      return { ...stuck('is suspended', 'spec.suspend is true', resume(team, view)), isWished: true };
    default:
      return undefined;
  }
}

function resume(team: Team, view: View): Advice {
  return { text: 'let it go on:', command: patch(view, team, { spec: { suspend: false } }) };
}

function unsupported(team: Team, { message }: Condition, view: View): Advice {
  const fields = [...message.matchAll(/spec\.(\w+)/g)].map(([, field]) => field ?? '');
  const spec = Object.fromEntries(fields.map((field) => [field, null]));
  return { text: `do without ${listed(fields.map((field) => `spec.${field}`))}:`, command: patch(view, team, { spec }) };
}

function nameTaken(team: Team, { message }: Condition, view: View): Advice {
  const [, kind, name] = /^(\w+) (\S+) exists/.exec(message) ?? [];
  if (kind === undefined || name === undefined) return { text: 'rename one of the roles:', command: edit(view, team) };
  return { text: 'rename the role or task, or delete what has its name:', command: commandOf(view, 'delete', kind.toLowerCase(), name) };
}

/** Of the daemon, of a team above, or its own. */
function quota(team: Team, { message }: Condition, view: View): Advice {
  const [, limit] = /\((limits\.\w+)\)/.exec(message) ?? [];
  if (limit !== undefined)
    return { text: `ask for fewer agents, delete other teams, or raise ${limit} in the configuration of the daemon` };
  const [, above, asked, remain] = /^team (\S+) has no room for the (\d+) agents of .*; (\d+) remain$/.exec(message) ?? [];
  const parent = above === undefined ? undefined : findTeam(view, above);
  if (parent) return moreFor(parent, parent.spec.budget.maxAgents + Number(asked) - Number(remain), view);
  const wanted = team.spec.roles.reduce((sum, { count = 1 }) => sum + count, 0) + (team.status?.budget?.reserved ?? 0);
  if (wanted > (team.spec.budget?.maxAgents ?? 0)) return moreFor(team, wanted, view);
  return { text: 'delete agents or sub-teams that are not needed, or raise budget.maxAgents of the team that is named' };
}

function moreFor(team: Team, maxAgents: number, view: View): Advice {
  return { text: `ask for fewer agents, or allow ${idOf(team)} more:`, command: patch(view, team, { spec: { budget: { maxAgents } } }) };
}

function parentLeaves(team: Team, because: string, view: View): Finding {
  const parent = findTeam(view, team.spec.parent ?? '');
  return parent ? leadingTo([parent], SAYS, because) : stuck(SAYS, because, { text: 'it goes with its parent' });
}
