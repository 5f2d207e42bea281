/** What whoever runs a team can do about a task that waits or failed. Pure. */
import type { Task } from '#api/types.ts';

const BY_REASON: Readonly<Record<string, string>> = {
  OpenForClaim: 'it has a prompt: it waits until an agent of the team claims it (claim_request); team_message can ask one to',
  RateLimited: 'its provider wants no more for now: it goes on by itself at status.notBefore',
  PromptLimit: 'as many prompts as may are being worked on: it starts when one of them has ended',
  NoProgress: 'agents got nowhere with it: read its transcript, change what it asks for, then retry_task',
  DependencyFailed: 'a task that it depends on has failed: retry_task that one',
  DependencyNotFound: 'a task that it depends on does not exist: create it with assign_task and that name, or delete this one',
  NoAgent: 'no agent of the team suits: team_status shows the agents; give it to another with assign_task',
  PlanTimeout: 'approve_plan lets it go on, retry_task begins it anew',
  PlanSubmitted: 'approve_plan decides about the plan',
  RequestExpired: 'retry_task opens it again',
};

export function nextStep(task: Task): { readonly hint?: string } {
  const hint = hintFor(task);
  return hint === undefined ? {} : { hint };
}

function hintFor({ status }: Task): string | undefined {
  const conditions = status?.conditions ?? [];
  const plan = conditions.find(({ type }) => type === 'PlanApproved');
  if (plan?.status === 'Unknown') return BY_REASON['PlanSubmitted'];
  const reason = conditions.find(({ type }) => type === 'Ready')?.reason;
  const known = BY_REASON[status?.reason ?? ''] ?? BY_REASON[reason ?? ''];
  if (known !== undefined) return known;
  return status?.phase === 'Failed' ? 'retry_task tries it once more, with all its attempts' : undefined;
}
