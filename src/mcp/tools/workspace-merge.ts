/** `workspace_merge`: brings the commits of agents into one branch. */
import { API_VERSION } from '#api/meta.ts';
import type { Merge, Team } from '#api/types.ts';
import { MAX_WAIT_SECONDS } from '#protocol/agent-verbs.ts';
import { described, flag, integer, list, object, oneOf, type Parsed, text } from '#protocol/shape.ts';
import { label } from '../objects/fields.ts';
import { defineTool } from '../tool.ts';
import { awaitObject } from '../work/await-object.ts';
import { namespace, namespaceOf, team, wait } from '../work/fields.ts';
import { given } from '../work/given.ts';
import { isMergeSettled, mergeAnswer, mergeProgress, toMergeAnswer } from '../work/merge-answer.ts';
import { strict } from '../work/strict.ts';
import { withHint, wrongField } from '../work/with-hint.ts';

const MARGIN_MS = 30_000;

const input = object(
  {
    team,
    sources: described(list(label, { min: 1, max: 100 }), 'Agents whose commits are merged, in this order.'),
    target: described(
      strict(
        object(
          {},
          {
            branch: described(text, "Branch that receives the work, of the team's repository unless agent is given."),
            agent: described(label, 'Agent whose repository receives the work.'),
          },
        ),
      ),
      'What receives the work: a branch, an agent, or a branch of an agent.',
    ),
  },
  {
    namespace,
    strategy: described(
      oneOf('sequential', 'branch-per-source', 'cherry-pick'),
      'sequential (the default) merges one after the other, branch-per-source keeps a branch for each, cherry-pick takes commit by commit.',
    ),
    commit_message: described(text, 'Message of the commits that the merge makes.'),
    path: described(text, 'Folder of the repository in the workspaces. Default /workspace.'),
    verify: described(list(text, { max: 64 }), 'Commands that must pass at the merged commit before the target moves.'),
    approval: described(flag, 'Somebody must say approve_merge before it lands. Default false.'),
    on_conflict: described(oneOf('Report', 'CreateTask'), 'CreateTask also opens a task for the agent whose work does not fit.'),
    allow_dirty: described(flag, 'Leave uncommitted files behind instead of stopping. Default false.'),
    wait,
    timeout_seconds: described(
      integer({ min: 1, max: MAX_WAIT_SECONDS }),
      `With wait: how long at most. After that the answer says timed_out, and the merge goes on. Default ${MAX_WAIT_SECONDS}.`,
    ),
  },
);
type Asked = Parsed<typeof input>;

export const workspaceMerge = defineTool({
  name: 'workspace_merge',
  title: 'Merge the work of agents',
  description:
    'Brings what agents have committed into one branch or into the repository of one agent. The target moves only when everything fits (and is verified and approved, if asked for); a conflict is reported with its files and changes nothing. Answers with the name of the Merge; with wait after it has ended, with what was merged or where it clashes. Without wait, wait_for and get with kind Merge show it.',
  category: 'default',
  isReadOnly: false,
  quotesOthers: true,
  input,
  output: mergeAnswer,
  deadlineMs: (asked) => timeoutMs(asked) + MARGIN_MS,
  resource: ({ team: name }) => `team/${name}`,
  async run(asked, call) {
    if (asked.target.agent === undefined && asked.target.branch === undefined)
      throw wrongField('target', 'give a branch, an agent or both');
    const place = namespaceOf(asked);
    await withHint(call.client.get<Team>({ kind: 'Team', namespace: place, name: asked.team }), { NotFound: 'team_list shows the teams' });
    const metadata = { generateName: `${asked.team}-merge-`, namespace: place };
    const draft = { apiVersion: API_VERSION, kind: 'Merge', metadata, spec: toSpec(asked) };
    const merge = await withHint(call.client.create<Merge>(draft as never), { Invalid: 'team_status shows the agents of the team' });
    if (!asked.wait) return toMergeAnswer(merge);
    const awaited = { timeoutMs: timeoutMs(asked), isSettled: isMergeSettled, say: mergeProgress };
    const { object: last, isTimedOut } = await awaitObject<Merge>(call, merge, awaited);
    return { ...toMergeAnswer(last), ...(isTimedOut && { timed_out: true }) };
  },
});

function timeoutMs({ wait: isWaiting, timeout_seconds: seconds = MAX_WAIT_SECONDS }: Pick<Asked, 'wait' | 'timeout_seconds'>): number {
  return isWaiting ? seconds * 1_000 : 0;
}

function toSpec(asked: Asked): object {
  const { team: name, sources, target, strategy, path, verify } = asked;
  return {
    team: name,
    sources: sources.map((agent) => ({ agent })),
    target,
    ...given({
      strategy,
      path,
      verify,
      commitMessage: asked.commit_message,
      approval: asked.approval === undefined ? undefined : asked.approval ? 'Required' : 'None',
      onConflict: asked.on_conflict,
      allowDirty: asked.allow_dirty,
    }),
  };
}
