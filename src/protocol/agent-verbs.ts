/**
 * What an agent may ask of its team, beyond sending mail: one verb per tool. They travel on the relay connection; the guest offers the same
 * names to the programs in its workspace and passes params and result on as they are. Who asks follows from the connection.
 */
import { method } from './method.ts';
import { anyFields, count, described, flag, integer, list, object, oneOf, type Parsed, text } from './shape.ts';

/** Longest wait of any verb. */
export const MAX_WAIT_SECONDS = 120;

/** An open request, or another Task of the team that may be claimed. */
export const openRequest = object(
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

const taskName = described(text, 'Name of the task, such as task-003: as claim_request or the assignment gave it.');
const notePath = described(text, 'The whole path of a note, such as teams/sprint/notes/plan.md.');
const waitSeconds = integer({ min: 1, max: MAX_WAIT_SECONDS });

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

const requestTask = object(
  { description: described(text, 'What is wanted, complete enough for somebody who knows nothing else of it.') },
  {
    context: described(text, 'What else helps: paths, findings, constraints.'),
    timeout_seconds: described(waitSeconds, 'For how long it is open, 30 when absent. Then it expires.'),
  },
);
const completeTask = object(
  { task: taskName },
  {
    attempt: described(count, 'The attempt that claim_request gave. A newer attempt of somebody else makes this one count for nothing.'),
    result: described(text, 'What came out of it, for whoever asked and for tasks that depend on it.'),
    artifacts: described(list(text, { max: 100 }), 'Paths of files that belong to the result.'),
  },
);
const updateTask = object(
  { task: taskName },
  {
    status: described(
      oneOf('in_progress', 'blocked', 'failed'),
      'blocked: it cannot go on without somebody else. failed: it is over without a result. Both need a reason.',
    ),
    reason: described(text, 'Why it is blocked or has failed.'),
    note: described(text, 'A remark that is kept with the task.'),
    progress: described(text, 'How far it is, in one line.'),
  },
);
const vaultWrite = object(
  { path: notePath, content: described(text, 'Markdown. With overwrite it is the whole note.') },
  {
    mode: described(oneOf('overwrite', 'append', 'prepend'), 'overwrite when absent.'),
    if_version: described(text, 'The version that vault_read gave: refused with Conflict if somebody has written since.'),
  },
);
const vaultSearch = object(
  { pattern: described(text, 'What to look for: words as they are, or a regular expression with is_regex.') },
  {
    path: described(text, 'Only below this folder.'),
    tag: described(text, 'Only notes with this tag.'),
    limit: described(integer({ min: 1, max: 100 }), 'At most so many hits, 20 when absent.'),
    is_regex: described(flag, 'The pattern is a regular expression.'),
  },
);
const vaultList = object(
  {},
  { path: described(text, 'A folder, the top when absent.'), recursive: described(flag, 'Also what is in the folders below.') },
);
const createSubTeam = object(
  {
    name: described(text, 'Of the new team: lower case letters, digits and -.'),
    roles: described(
      list(anyFields, { min: 1, max: 20 }),
      'What agents it has, as in the spec of a Team: {"name": "dev", "count": 2}, also description, skills, backend, model.',
    ),
  },
  { max_agents: described(count, 'How many agents it may have at most, taken from the budget of your team.') },
);

export const agentVerbs = {
  listAgents: method(object({}), object({ agents: list(agentInfo) })),
  openRequests: method(object({}, { limit: integer({ min: 1, max: 100 }) }), object({ requests: list(openRequest, { max: 100 }) })),
  requestTask: method(requestTask, object({ request_id: text, status: oneOf('open') })),
  claimRequest: method(
    object({ request_id: described(text, 'As check_messages or a request message gave it, or the name of a task that is open.') }),
    claimResult,
  ),
  releaseTask: method(object({ task: taskName }), object({ status: taskWord })),
  completeTask: method(completeTask, object({ status: taskWord })),
  /** `blocked` and `failed` need a reason. */
  updateTask: method(updateTask, object({ status: taskWord })),
  submitPlan: method(
    object({ task: taskName, plan: described(text, 'What you are going to do, step by step.') }),
    object({ round: count }),
  ),
  /** For the lead. */
  approvePlan: method(
    object(
      { task: taskName, approved: described(flag, 'False: it is to be planned again.') },
      { feedback: described(text, 'What is wrong with the plan, for whoever has to change it.') },
    ),
    object({ status: oneOf('approved', 'refused', 'failed') }),
  ),
  vaultRead: method(object({ path: notePath }), object({ path: text, content: text, version: text, frontmatter: anyFields })),
  vaultWrite: method(vaultWrite, object({ path: text, version: text })),
  vaultSearch: method(vaultSearch, object({ hits: list(vaultHit), is_cut: flag })),
  vaultList: method(vaultList, object({ entries: list(vaultEntry), is_cut: flag })),
  createSubTeam: method(createSubTeam, object({ success: flag, team_name: text, member_count: count, message: text })),
  getBudget: method(object({}), budget),
};

export type AgentVerbs = typeof agentVerbs;
export type OpenRequest = Parsed<typeof openRequest>;
export type AgentInfo = Parsed<typeof agentInfo>;
export type ClaimResult = Parsed<typeof claimResult>;
export type TaskWord = Parsed<typeof taskWord>;
