/** `explain_waiting`: why a team does not go on, and what to do about it. */

import { statusText } from '../resources/status-text.ts';
import { blockersOf, blockerText, explanationsOf, explanationText } from '../resources/waiting.ts';
import { teamPrompt } from './team-prompt.ts';
import { asData, SAFETY_RULES, steps } from './words.ts';

const MOST_TASKS = 20;

export const explainWaiting = teamPrompt({
  name: 'explain_waiting',
  title: 'Explain what a team waits for',
  description: 'Finds the one thing that holds a team up, explains it in plain words, and proposes what would help.',
  arguments: [],
  render({ team, view, inCalls }) {
    const now = new Date();
    const blockers = blockersOf(team, view, now);
    const waiting = explanationsOf(team, view, now);
    const rest = waiting.length - MOST_TASKS;
    const chains = [...waiting.slice(0, MOST_TASKS).map(explanationText), ...(rest > 0 ? [`and ${rest} more tasks`] : [])];
    return [
      `Explain to the person you work for why the agentiso team ${team.metadata.name} (in calls: ${inCalls}) is not further, and what would help.`,
      asData('The team as it is now', statusText(team, view, now)),
      asData('What is stuck', blockers.length === 0 ? 'nothing' : blockers.map(blockerText).join('\n\n')),
      asData(
        'What each open task waits for, from the task down to the cause',
        chains.length === 0 ? 'no task is open' : chains.join('\n\n'),
      ),
      'Do this:',
      steps(
        'Find the cause at the end of the chains, not the tasks that only wait for it. What only needs time is not stuck: say so, and for how long it may take.',
        'If the reason is not clear read more: why and get for the object with its conditions, workspace_logs for an agent that does not start, get_task_result for a task that failed, team_receive for questions that agents have asked you. Unanswered plans wait for approve_plan.',
        'Answer in a few sentences: what waits, for what, why, and the one action that would free most of it.',
        'Name the action as a call of a tool (apply with the changed field, approve_plan, retry_task, assign_task or team_message). Do it only after the person agrees; changes of what a Team has made belong in the Team.',
      ),
      SAFETY_RULES,
    ].join('\n\n');
  },
});
