/** team_destroy: ends a team with all that it made. */
import { described, flag, list, object, oneOf, text } from '#protocol/shape.ts';
import { keptWork } from '../objects/answers.ts';
import { deleteObject } from '../objects/delete-object.ts';
import { namespaceField, teamField, waitDeadlineMs, waitSeconds } from '../objects/fields.ts';
import { keptOf } from '../objects/kept-work.ts';
import { teamTarget } from '../objects/target.ts';
import { defineTool } from '../tool.ts';

const USUAL_SECONDS = 120;

const input = object(
  { team: teamField },
  {
    namespace: namespaceField,
    wait: described(flag, 'Wait until nothing of it is left; true when absent.'),
    timeout_seconds: waitSeconds(USUAL_SECONDS),
  },
);

const output = object(
  {
    team: text,
    phase: described(oneOf('Destroyed', 'Terminating'), 'Terminating: its sub-teams and agents go first; it goes on by itself.'),
    kept: described(list(keptWork), 'Work of its agents that was not merged, and stays in the repository of the team.'),
  },
  { timed_out: flag },
);

export const teamDestroy = defineTool({
  name: 'team_destroy',
  title: 'Destroy a team',
  description:
    'Deletes a team: its sub-teams first, then its agents with their workspaces and its tasks. Commits and files that are not merged are rescued into the repository of the team and named in kept; in a team without a repository files are gone, so copy what you need before. After timed_out it goes on; wait_for with deleted: true waits again, why says what holds it.',
  input,
  output,
  category: 'default',
  isReadOnly: false,
  isDestructive: true,
  isIdempotent: true,
  deadlineMs: ({ timeout_seconds = USUAL_SECONDS }) => waitDeadlineMs(timeout_seconds),
  resource: ({ team }) => `team/${team}`,
  async run({ team, namespace, wait = true, timeout_seconds = USUAL_SECONDS }, call) {
    const deletion = wait ? { timeoutMs: timeout_seconds * 1_000 } : {};
    const { isGone, isTimedOut, last } = await deleteObject(call, teamTarget(team, namespace), deletion);
    const kept = await keptOf(call, last);
    const phase = isGone ? ('Destroyed' as const) : ('Terminating' as const);
    return { team, phase, kept, ...(isTimedOut ? { timed_out: true } : {}) };
  },
});
