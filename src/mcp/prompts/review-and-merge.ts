/** `review_and_merge`: from commits in workspaces to one branch that passes its checks. */
import { type Agent, type Merge, shortName } from '#api/types.ts';
import { statusText } from '../resources/status-text.ts';
import { partsOf } from '../resources/waiting.ts';
import { type KnownTeam, teamPrompt } from './team-prompt.ts';
import { asData, given, SAFETY_RULES, steps } from './words.ts';

export const reviewAndMerge = teamPrompt({
  name: 'review_and_merge',
  title: 'Review and merge',
  description:
    'Reads what the agents of a team have committed, reviews it, merges it into one branch with checks, and cleans up without losing work.',
  arguments: [
    { name: 'target', description: 'Branch that receives the work. Default: the branch the team started from.', required: false },
  ],
  render(known, values) {
    const { team, view, inCalls } = known;
    const target = given(values, 'target') ?? team.spec.merge?.into ?? team.spec.repo?.ref ?? 'main';
    return [
      `Review what the agents of the agentiso team ${team.metadata.name} (in calls: ${inCalls}) have made, and merge what is good into the branch ${JSON.stringify(target)}.`,
      asData('The team as it is now', statusText(team, view, new Date())),
      asData('Where its work is', workText(known)),
      'Do this:',
      steps(
        'Read results first: get_task_result for each finished task. A task that did not succeed, or has no verify, needs a closer look.',
        `Review each agent's commits in its workspace: workspace_exec with git log --stat and git diff against the commit it started from. Look for what the task did not ask for, missing tests, secrets, and files that two agents changed. Work that is not committed is not merged: ask the agent to commit it (team_message).`,
        'Tell the person what you would merge, in which order, and what you would leave. Wait for a yes.',
        `Merge with workspace_merge: ${inCalls}, sources in that order, target branch ${JSON.stringify(target)}, verify with the commands that test the whole, on_conflict CreateTask, and wait true. It lands as a whole or not at all: if verify fails or something conflicts, the branch does not move.`,
        'On a conflict read which files and which agents: the agent whose work does not fit gets a task to repair it; when that has ended, merge again. Do not resolve it by hand in the target.',
        'After the merge check the branch: the commit in the answer, and that its tests pass. Then tell the person.',
        'Only if the person wants the team gone: team_destroy. Work that was not merged is rescued first; rescue_list shows it and rescue_restore brings it back. Do not set the annotation agentiso.dev/discard-work.',
      ),
      SAFETY_RULES,
    ].join('\n\n');
  },
});

function workText({ team, view }: KnownTeam): string {
  const parts = partsOf(team, view);
  const agents = parts.filter((part): part is Agent => part.kind === 'Agent');
  const merges = parts.filter((part): part is Merge => part.kind === 'Merge');
  const { repo } = team.spec;
  return [
    repo ? `repository: ${repo.path ?? repo.url ?? 'none'}, started from ${repo.ref}` : 'no repository: the workspaces began empty',
    ...agents.map(agentLine),
    ...merges.map(
      ({ metadata, spec, status }) =>
        `merge ${shortName(spec.team, metadata.name)}: ${status?.phase ?? 'Pending'} ${status?.targetAfter ?? ''}`,
    ),
  ].join('\n');
}

function agentLine({ metadata, spec, status }: Agent): string {
  const { branch = 'no branch', forkBase = 'nothing', head } = status?.git ?? {};
  return `agent ${shortName(spec.team, metadata.name)}: ${branch}, began at ${forkBase}${head === undefined ? '' : `, is at ${head}`}`;
}
