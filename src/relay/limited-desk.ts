/**
 * The desk behind its counter: what an agent asks for takes a token of its category, and stands in the log of calls, refused or not. What
 * the guest does by itself, fetching and acknowledging mail, is neither counted nor told: nobody called a tool.
 */
import { type Agent, shortName } from '#api/types.ts';
import type { AuditLog } from '#lib/audit.ts';
import { AgentisoError } from '#lib/errors.ts';
import { toWireError } from '#protocol/protocol-error.ts';
import type { SentTogether } from '#protocol/relay.ts';
import type { ToolCategory } from '#protocol/tool-surface.ts';
import type { AskedIn, Desk } from './desk.ts';
import type { RateLimits } from './rates.ts';

export interface LimitedDeskDeps {
  readonly rates?: RateLimits;
  readonly audit?: AuditLog;
  readonly agentByUid: (uid: string) => Agent | undefined;
  readonly nowMs?: () => number;
}

type Params<M extends keyof Desk> = Parameters<Desk[M]>[1];
type Result<M extends keyof Desk> = Awaited<ReturnType<Desk[M]>>;

interface Asked<M extends keyof Desk> {
  /** As MCP calls it. */
  readonly tool: string;
  readonly category: ToolCategory;
  /** What it is about, by name: from what was asked, or from the answer where the name is made there. */
  readonly resource?: (params: Params<M>, result: Result<M> | undefined) => string | undefined;
  /** What this call has made, beyond the one that it was charged for. */
  readonly beyond?: (result: Result<M>) => number;
}

const task = (name: string | undefined) => name && `task/${name}`;
const note = (path: string | undefined) => path && `vault/${path}`;

const SEND_MESSAGE: Asked<'teamMessage'> = { tool: 'send_message', category: 'team_message', resource: ({ to }) => `agent/${to}` };

/** What agents ask for. Undefined: the guest's own doing. */
export const AGENT_CALLS: { readonly [M in Exclude<keyof Desk, 'teamMessages'>]: Asked<M> | undefined } = {
  teamReceive: undefined,
  teamAck: undefined,
  teamMessage: SEND_MESSAGE,
  // The part of it that the host answers; the other one, the mail, is in the guest already. Together they are one call.
  openRequests: { tool: 'check_messages', category: 'default' },
  taskCreate: { tool: 'task_create', category: 'default', resource: (_, made) => task(made?.task) },
  requestTask: { tool: 'request_task', category: 'default', resource: (_, made) => task(made?.request_id) },
  claimRequest: { tool: 'claim_request', category: 'default', resource: ({ request_id }) => task(request_id) },
  releaseTask: { tool: 'release_task', category: 'default', resource: (asked) => task(asked.task) },
  completeTask: { tool: 'complete_task', category: 'default', resource: (asked) => task(asked.task) },
  updateTask: { tool: 'update_task', category: 'default', resource: (asked) => task(asked.task) },
  submitPlan: { tool: 'submit_plan', category: 'default', resource: (asked) => task(asked.task) },
  approvePlan: { tool: 'approve_plan', category: 'default', resource: (asked) => task(asked.task) },
  listAgents: { tool: 'list_agents', category: 'default' },
  getBudget: { tool: 'get_budget', category: 'default' },
  createSubTeam: {
    tool: 'create_sub_team',
    category: 'create',
    resource: ({ name }) => `team/${name}`,
    beyond: ({ member_count }) => member_count - 1,
  },
  vaultRead: { tool: 'vault_read', category: 'default', resource: ({ path }) => note(path) },
  vaultWrite: { tool: 'vault_write', category: 'default', resource: ({ path }) => note(path) },
  vaultSearch: { tool: 'vault_search', category: 'default', resource: ({ path }) => note(path) },
  vaultList: { tool: 'vault_list', category: 'default', resource: ({ path }) => note(path) },
};

export function limitedDesk(desk: Desk, deps: LimitedDeskDeps): Desk {
  const verbs = (Object.keys(AGENT_CALLS) as (keyof typeof AGENT_CALLS)[]).map((verb) => {
    const call = AGENT_CALLS[verb] as Call | undefined;
    return [verb, call === undefined ? desk[verb] : limited(call, desk[verb] as unknown as Answer, deps)];
  });
  return { ...Object.fromEntries(verbs), teamMessages: eachLimited(desk.teamMessages, deps) } as Desk;
}

/** Several messages in one call are as many calls of the tool: each takes its token, and each stands in the log. */
function eachLimited(answer: Desk['teamMessages'], deps: LimitedDeskDeps): Desk['teamMessages'] {
  const { rates, audit, nowMs = () => performance.now() } = deps;
  const { tool, category, resource } = SEND_MESSAGE;
  return async (uid, { messages }, context) => {
    const startMs = nowMs();
    const record = (outcomeOf: (index: number) => string) => {
      if (!audit) return;
      const [who, durationMs] = [whoIs(uid, deps), nowMs() - startMs];
      for (const [index, params] of messages.entries()) {
        const about = resource?.(params, undefined);
        audit.record({ who, mode: 'agent', tool, ...(about && { resource: about }), outcome: outcomeOf(index), durationMs });
      }
    };
    const refusals = messages.map(() => refusalOf(() => rates?.charge(uid, category)));
    const admitted = messages.filter((_, index) => refusals[index] === undefined);
    try {
      const sent = admitted.length > 0 ? (await answer(uid, { messages: admitted }, context)).results : [];
      let next = 0;
      const results = refusals.map((refusal): SentTogether => refusal ?? sent[next++] ?? {});
      record((index) => results[index]?.error?.code ?? 'ok');
      return { results };
    } catch (error) {
      const { code } = toWireError(error);
      record((index) => refusals[index]?.error.code ?? code);
      throw error;
    }
  };
}

function refusalOf(charge: () => void): { readonly error: ReturnType<typeof toWireError> } | undefined {
  try {
    charge();
    return undefined;
  } catch (error) {
    return { error: toWireError(error) };
  }
}

/** An entry of the table, with the answer of the same verb. */
interface Call extends Pick<Asked<keyof Desk>, 'tool' | 'category'> {
  readonly resource?: (params: unknown, result: unknown) => string | undefined;
  readonly beyond?: (result: unknown) => number;
}
type Answer = (uid: string, params: unknown, context: AskedIn) => Promise<unknown>;

function limited(call: Call, answer: Answer, deps: LimitedDeskDeps): Answer {
  const { rates, audit, nowMs = () => performance.now() } = deps;
  return async (uid, params, context) => {
    const startMs = nowMs();
    const record = (outcome: string, result?: unknown) => {
      const resource = call.resource?.(params, result);
      const durationMs = nowMs() - startMs;
      audit?.record({ who: whoIs(uid, deps), mode: 'agent', tool: call.tool, ...(resource && { resource }), outcome, durationMs });
    };
    try {
      rates?.charge(uid, call.category);
      const result = await answer(uid, params, context);
      rates?.chargeBeyond(uid, call.category, call.beyond?.(result) ?? 0);
      record('ok', result);
      return result;
    } catch (error) {
      record(error instanceof AgentisoError ? error.code : toWireError(error).code);
      throw error;
    }
  };
}

/** As the API names an agent; by its uid when it is gone. */
function whoIs(uid: string, { agentByUid }: LimitedDeskDeps): string {
  const agent = agentByUid(uid);
  if (agent === undefined) return `agent:${uid}`;
  const { metadata, spec } = agent;
  return `agent:${metadata.namespace}/${spec.team}/${shortName(spec.team, metadata.name)}`;
}
