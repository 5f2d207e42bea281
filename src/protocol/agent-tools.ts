/** The tools of agents: what a model is told about each verb that an agent may ask for. What it takes and gives follows from the verb. */
import { agentVerbs } from './agent-verbs.ts';
import { mailVerbs } from './mail-verbs.ts';
import type { ToolSurface } from './tool-surface.ts';

const verbs = { ...mailVerbs, ...agentVerbs };

export interface AgentTool extends ToolSurface {
  /** What it stands for, by the name that programs use. */
  readonly verb: keyof typeof verbs;
}

type Words = Omit<AgentTool, 'name' | 'verb' | 'input' | 'output' | 'category'> & Partial<Pick<AgentTool, 'category'>>;

const READS = { isReadOnly: true };
const CHANGES = { isReadOnly: false };
/** Doing it twice changes nothing more. */
const SETS = { isReadOnly: false, isIdempotent: true };

function tool(name: string, verb: AgentTool['verb'], words: Words): AgentTool {
  const { params, result } = verbs[verb];
  return { name, verb, input: params, output: result, category: 'default', ...words };
}

export const agentTools: readonly AgentTool[] = [
  tool('check_messages', 'checkMessages', {
    title: 'Read new messages',
    description:
      'Gives your new messages in order, and the requests that you may claim. Call it first, between steps, and after wait_for_message. ' +
      'What it gave is acknowledged by your next call of any tool but wait_for_message, or by ack. ' +
      'Answer with send_message and reply_to; take a request with claim_request.',
    ...CHANGES,
    quotesOthers: true,
  }),
  tool('wait_for_message', 'waitForMessage', {
    title: 'Wait for a message',
    description:
      'Waits until a new message is there that fits, 30 seconds or timeout_seconds, and gives it; null and timed_out when none came. ' +
      'Use it when you cannot go on without an answer. The message stays new: call check_messages to take it.',
    ...READS,
    quotesOthers: true,
  }),
  tool('send_message', 'sendMessage', {
    title: 'Send a message',
    description:
      'Writes to an agent, the lead, the people who run the team, or all. Who writes is always you. list_agents says who is there. ' +
      'For work that anybody may do use request_task. Then go on, or wait_for_message for the answer.',
    ...CHANGES,
    category: 'team_message',
  }),
  tool('list_agents', 'listAgents', {
    title: 'List the agents',
    description:
      'Gives the agents of your team, of its parent and of its sub-teams: role, skills, whether they work and on what. ' +
      'Use it before send_message, to find who can help.',
    ...READS,
  }),
  tool('request_task', 'requestTask', {
    title: 'Ask the team for something',
    description:
      'Asks all others of the team to do something; the first who claims it does it. Use it when you do not care who. ' +
      'Then wait_for_message with message_type response and this request_id: one comes when it is claimed, one when it is done or expired.',
    ...CHANGES,
  }),
  tool('claim_request', 'claimRequest', {
    title: 'Claim a request or task',
    description:
      'Takes an open request, or a task that may be claimed, for you alone. claimed false: somebody else was first, or it is not to be had; ' +
      'go on with something else. When you have it, do it, say how far you are with update_task, and end it with complete_task.',
    ...CHANGES,
    quotesOthers: true,
  }),
  tool('release_task', 'releaseTask', {
    title: 'Give a task back',
    description: 'Gives back a task that you have claimed and will not do, so that others can claim it. Say why with update_task before.',
    ...SETS,
  }),
  tool('update_task', 'updateTask', {
    title: 'Report on a task',
    description:
      'Says how a task of yours goes: progress, a note, or that it is blocked or has failed, with a reason. ' +
      'When it is done use complete_task; to let others do it use release_task.',
    ...SETS,
  }),
  tool('complete_task', 'completeTask', {
    title: 'Complete a task',
    description:
      'Ends a task of yours with its result; whoever asked for it is told. Commit your work first if the workspace is a repository. ' +
      'Then check_messages for the next.',
    ...SETS,
  }),
  tool('submit_plan', 'submitPlan', {
    title: 'Submit a plan',
    description:
      'Sends the plan of a task that must not begin without approval to the lead. ' +
      'Then wait_for_message with message_type plan_approval; if it is refused, submit a better one. There are three rounds.',
    ...CHANGES,
  }),
  tool('approve_plan', 'approvePlan', {
    title: 'Approve or refuse a plan',
    description:
      'For the lead only: decides on a plan that came as a plan_submission. Refuse with feedback, so that the next one is better.',
    ...CHANGES,
  }),
  tool('vault_list', 'vaultList', {
    title: 'List notes',
    description: 'Gives the notes that your team shares, by path. Read one with vault_read; look into many with vault_search.',
    ...READS,
    quotesOthers: true,
  }),
  tool('vault_read', 'vaultRead', {
    title: 'Read a note',
    description: 'Gives a note and its version. vault_list and vault_search give paths.',
    ...READS,
    quotesOthers: true,
  }),
  tool('vault_search', 'vaultSearch', {
    title: 'Search the notes',
    description: 'Looks through the notes that you may read and gives lines with their surroundings. Read the whole note with vault_read.',
    ...READS,
    quotesOthers: true,
  }),
  tool('vault_write', 'vaultWrite', {
    title: 'Write a note',
    description:
      'Writes a note for the whole team, below teams/YOUR-TEAM/notes. Use it for what others should find later. ' +
      'To change one that others write too, vault_read it and give its version as if_version.',
    ...CHANGES,
  }),
  tool('create_sub_team', 'createSubTeam', {
    title: 'Create a sub-team',
    description:
      'Makes a team below yours with agents of its own, if your team may. get_budget says how many there may be. ' +
      'It takes a while: list_agents shows them when they are there; write to them as TEAM/NAME.',
    ...CHANGES,
    category: 'create',
  }),
  tool('get_budget', 'getBudget', {
    title: 'How many agents there may be',
    description: 'Says how many agents your team may have with its sub-teams, and how many are left. Use it before create_sub_team.',
    ...READS,
  }),
];
