/**
 * What an agent may ask of its team, beyond sending mail: one verb per tool. They travel on the relay connection; the guest offers the same
 * names to the programs in its workspace and passes params and result on as they are. Who asks follows from the connection.
 */
import { method } from './method.ts';
import { anyFields, count, flag, integer, list, object, oneOf, type Parsed, text } from './shape.ts';

/** Longest wait of any verb. */
export const MAX_WAIT_SECONDS = 120;

/** An open request, or another Task of the team that may be claimed. */
const openRequest = object(
  { request_id: text, title: text, description: text, from: text, priority: integer({ min: 1, max: 5 }), created_at: text },
  { expires_at: text },
);

const agentInfo = object(
  {
    name: text,
    team: text,
    role: text,
    skills: list(text),
    /** running: has a task; idle: has none; waiting: waits for a message or for its plan's approval. */
    status: oneOf('running', 'idle', 'waiting'),
    uptime_seconds: count,
  },
  { model: text, current_task: text },
);

const taskWord = oneOf('pending', 'claimed', 'in_progress', 'blocked', 'completed', 'failed');

/** A claim that is lost is no error: somebody else was first, or it is not to be had, and `message` says which. */
const claimResult = object(
  { claimed: flag, message: text },
  { task: text, title: text, description: text, attempt: count, fencing_token: count, winner: text },
);

const budget = object({
  max_agents: count,
  used: count,
  reserved: count,
  remaining: integer({ min: -1_000_000, max: 1_000_000 }),
  depth: count,
  max_depth: count,
});

const vaultEntry = object({ path: text, size: count, modified: text });
const vaultHit = object({ path: text, line: count, text: text, context: list(text) });

export const agentVerbs = {
  listAgents: method(object({}), object({ agents: list(agentInfo) })),
  openRequests: method(object({}, { limit: integer({ min: 1, max: 100 }) }), object({ requests: list(openRequest, { max: 100 }) })),
  requestTask: method(
    object({ description: text }, { context: text, timeout_seconds: integer({ min: 1, max: MAX_WAIT_SECONDS }) }),
    object({ request_id: text, status: oneOf('open') }),
  ),
  claimRequest: method(object({ request_id: text }), claimResult),
  releaseTask: method(object({ task: text }), object({ status: taskWord })),
  completeTask: method(
    object({ task: text }, { attempt: count, result: text, artifacts: list(text, { max: 100 }) }),
    object({ status: taskWord }),
  ),
  /** `blocked` and `failed` need a reason. */
  updateTask: method(
    object({ task: text }, { status: oneOf('in_progress', 'blocked', 'failed'), reason: text, note: text, progress: text }),
    object({ status: taskWord }),
  ),
  submitPlan: method(object({ task: text, plan: text }), object({ round: count })),
  /** For the lead. */
  approvePlan: method(
    object({ task: text, approved: flag }, { feedback: text }),
    object({ status: oneOf('approved', 'refused', 'failed') }),
  ),
  vaultRead: method(object({ path: text }), object({ path: text, content: text, version: text, frontmatter: anyFields })),
  vaultWrite: method(
    object({ path: text, content: text }, { mode: oneOf('overwrite', 'append', 'prepend'), if_version: text }),
    object({ path: text, version: text }),
  ),
  vaultSearch: method(
    object({ pattern: text }, { path: text, tag: text, limit: integer({ min: 1, max: 100 }), is_regex: flag }),
    object({ hits: list(vaultHit), is_cut: flag }),
  ),
  vaultList: method(object({}, { path: text, recursive: flag }), object({ entries: list(vaultEntry), is_cut: flag })),
  createSubTeam: method(
    object({ name: text, roles: list(anyFields, { min: 1, max: 20 }) }, { max_agents: count }),
    object({ success: flag, team_name: text, member_count: count, message: text }),
  ),
  getBudget: method(object({}), budget),
};

export type AgentVerbs = typeof agentVerbs;
export type OpenRequest = Parsed<typeof openRequest>;
export type AgentInfo = Parsed<typeof agentInfo>;
export type ClaimResult = Parsed<typeof claimResult>;
export type TaskWord = Parsed<typeof taskWord>;
