/** team_create: a new team with its agents. */

import { DEFAULT_NAMESPACE } from '#api/meta.ts';
import { agentNamesOf } from '#api/team-budget.ts';
import type { Team } from '#api/types.ts';
import { hasCondition } from '#client/has-condition.ts';
import type { ApiObject } from '#client/resource-api.ts';
import { createObject } from '#client/write/requests.ts';
import { AlreadyExistsError, isCode } from '#lib/errors.ts';
import { isObject } from '#lib/json.ts';
import { anyFields, described, flag, integer, list, object, type Parsed, text } from '#protocol/shape.ts';
import { label, manifestField, namespaceField, plainText, waitDeadlineMs, waitSeconds } from '../objects/fields.ts';
import { FIELD_MANAGER } from '../objects/manifest-set.ts';
import { newTeam } from '../objects/new-team.ts';
import { toRefusal } from '../objects/refusal.ts';
import { teamList, teamMap } from '../objects/spec-field.ts';
import { teamTarget } from '../objects/target.ts';
import { teamAnswer } from '../objects/team-answer.ts';
import { teamView } from '../objects/team-view.ts';
import { waitObject } from '../objects/wait-object.ts';
import { defineTool, type ToolCall } from '../tool.ts';

const USUAL_SECONDS = 60;

const input = object(
  {},
  {
    name: described(label, 'Name of the team; agents are called NAME-ROLE or NAME-ROLE-1. Needed unless manifest says it.'),
    namespace: namespaceField,
    roles: described(teamList('roles'), 'Which agents, and how many of each: [{name: lead}, {name: coder, count: 2, skills: [rust]}].'),
    manifest: described(manifestField, 'Instead of the other fields: one document of kind Team, as YAML or JSON.'),
    description: described(plainText(100 * 1024), 'What the team is for; its agents see it.'),
    repo: described(
      plainText(2_000),
      'Workspaces start as copies of it: an absolute path on the machine of the daemon, or the address of a git repository.',
    ),
    repo_ref: described(plainText(250), 'Branch, tag or commit to start from; main when absent.'),
    max_agents: described(integer({ min: 1, max: 1_000 }), 'Most agents of the team and its sub-teams together; 10 when absent.'),
    parent: described(label, 'The team that it is nested in: bounds its budget and policy.'),
    tasks: described(
      list(anyFields, { min: 1, max: 1_000 }),
      'Work to start with: [{name: build, assignTo: coder, command: make}]; explain kind Team, field spec.tasks tells all fields. assign_task and create_workflow add more later.',
    ),
    network: described(teamMap('network'), 'What its agents may reach; nothing when absent.'),
    isolation: described(teamMap('isolation'), 'How strongly workspaces are kept apart; the strongest that works here when absent.'),
    wait: described(flag, 'Wait until all agents are ready; true when absent.'),
    timeout_seconds: waitSeconds(USUAL_SECONDS),
  },
);
type Asked = Parsed<typeof input>;

const output = object({ ready: flag, team: teamAnswer }, { timed_out: flag, next: described(text, 'What to do now.') });

export const teamCreate = defineTool({
  name: 'team_create',
  title: 'Create a team',
  description:
    'Creates a team of agents, each with a workspace of its own, and by default waits until they are ready. Give name and roles, or a manifest. Refused when a team of this name exists (apply changes it), when budgets have no room, or when a field is wrong. Then give it work with assign_task or create_workflow, or run commands with workspace_exec. After timed_out it goes on by itself: ask why, or wait_for condition Ready.',
  input,
  output,
  category: 'create',
  isReadOnly: false,
  quotesOthers: true,
  deadlineMs: ({ timeout_seconds = USUAL_SECONDS }) => waitDeadlineMs(timeout_seconds),
  resource: ({ name = '' }) => `team/${name}`,
  async run(asked, call) {
    const team = await createTeam(call, asked);
    const { name, namespace = DEFAULT_NAMESPACE } = team.metadata;
    call.charge(agentNamesOf(team).length - 1);
    const isWaiting = asked.wait ?? true;
    const isTimedOut = isWaiting && (await waitUntilReady(call, team, asked)).isTimedOut;
    const view = await teamView(call, name, namespace);
    const isReady = view.conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
    const next = isReady
      ? 'assign_task gives it work'
      : `wait_for kind Team, name ${name}, condition Ready; or why kind Team, name ${name}`;
    return { ready: isReady, team: view, next, ...(isTimedOut ? { timed_out: true } : {}) };
  },
});

async function createTeam({ connection }: ToolCall, asked: Asked): Promise<Team> {
  const document = newTeam(asked);
  const { metadata } = document as { metadata: { namespace?: string; name?: string } };
  const target = teamTarget(metadata.name ?? '', metadata.namespace ?? asked.namespace);
  const body = { ...document, metadata: { ...metadata, namespace: target.namespace } };
  try {
    const created = await createObject({ connection, err: () => {} }, target, body, {
      fieldManager: FIELD_MANAGER,
      fieldValidation: 'Strict',
    });
    return created as unknown as Team;
  } catch (error) {
    throw refusalOf(error, target.name);
  }
}

function refusalOf(error: unknown, name: string): unknown {
  if (isCode(error, 'AlreadyExists')) {
    const hint = 'choose another name, look at it with team_status, or change it with apply';
    return new AlreadyExistsError(`team '${name}' already exists`, { hint, cause: error });
  }
  const hint = isCode(error, 'Invalid') ? 'nothing was made; explain with kind Team and a field says what is accepted' : undefined;
  return toRefusal(error, hint);
}

function waitUntilReady(call: ToolCall, { metadata }: Team, { timeout_seconds = USUAL_SECONDS }: Asked) {
  return waitObject(call, {
    target: teamTarget(metadata.name, metadata.namespace),
    timeoutMs: timeout_seconds * 1_000,
    // Gone, or another one: nobody has to wait for it any more.
    isDone: (object) => object?.metadata.uid !== metadata.uid || (object !== undefined && hasCondition(object, 'ready', 'true')),
    say: progressOf,
  });
}

function progressOf({ status }: ApiObject): string {
  const members = isObject(status) && Array.isArray(status['members']) ? status['members'].filter(isObject) : [];
  const ready = members.filter(({ phase }) => phase === 'Ready' || phase === 'Working').length;
  return members.length === 0 ? 'agents are being made' : `${ready} of ${members.length} agents are ready`;
}
