/**
 * A prompt on its way to a coding agent, and what came of it: what the host sends with an attempt, what the guest hands to the runner, and
 * what the runner leaves behind.
 */
import { count, finite, integer, list, object, oneOf, type Parsed, text } from './shape.ts';

/** Of the agent's last words, what an outcome holds. */
export const MAX_AGENT_TEXT_BYTES = 128 * 1024;
/** Of what one tool call says, in the transcript. */
export const MAX_TOOL_TEXT_BYTES = 64 * 1024;
export const TRANSCRIPT = 'transcript';

/** A rule fits when everything that it names does; one that names nothing fits always. */
export const permissionRule = object(
  { action: oneOf('allow', 'ask', 'deny') },
  {
    /** What kind of thing the tool does: read, edit, delete, move, search, execute, think, fetch, switch_mode, other. */
    kind: text,
    /** The name or title of the tool; * stands for anything. */
    tool: text,
    /** The command line that it would run; * stands for anything. */
    command: text,
  },
);

/** What the host knows of a run. */
const promptFields = {
  backend: text,
  /** acp: a session. oneShot: one start of the program, one answer. */
  mode: oneOf('acp', 'oneShot'),
  /** Everything but what only the workspace knows: unread messages and its conventions. */
  text,
  /** The first rule that fits decides, and nothing that none allows is allowed. */
  rules: list(permissionRule, { max: 256 }),
};
const promptExtras = {
  model: text,
  /** Whose models it uses; the backend's own provider when absent. */
  provider: text,
  /** How long a person has to answer; then it is no. */
  askMs: integer({ min: 1, max: 86_400_000 }),
  /** Pauses before the second and third try to start the agent. */
  startPausesMs: list(count, { max: 10 }),
};
export const promptJob = object(promptFields, promptExtras);

/** The same, and where things are in the workspace. */
export const runnerJob = object(
  {
    ...promptFields,
    taskName: text,
    attempt: count,
    /** Unread messages, ready to be put in front, and their ids: acknowledged when the agent has taken the prompt. */
    unread: text,
    unreadIds: list(text),
    workspace: text,
    /** The agent's own, kept from run to run. */
    home: text,
    /** The agent's socket, and the command `team` with what runs it. */
    socket: text,
    team: text,
    node: text,
    /** Files to be written. */
    transcript: text,
    outcome: text,
  },
  {
    ...promptExtras,
    /** The session of an earlier attempt that was cut off. */
    lastSession: text,
    /** Where the last session's name is kept for the next attempt. */
    sessionFile: text,
    /** A descriptor on which the runner tells which process groups are its own: `+ID` and `-ID`, line by line. */
    groupsFd: count,
  },
);

export const tokenUsage = object(
  { inputTokens: count, outputTokens: count },
  { costUsd: finite, /** What was in its context at last. */ contextTokens: count },
);

export const promptOutcome = object(
  {
    /** The agent's last words. */
    text,
    /** What it did, as far as anybody has seen. */
    evidence: object({ toolCalls: count, filesChanged: count }),
  },
  {
    /** Of the last turn, by the protocol's word for it. */
    stopReason: text,
    sessionId: text,
    usage: tokenUsage,
    /** Absent: it did what it was asked for, by its own account. */
    error: object({ code: text, message: text }),
    /** The provider wants no more before this time. */
    retryAt: text,
    /** What people should hear of: tools that were refused, nudges, new sessions. */
    notes: list(object({ reason: text, message: text }), { max: 100 }),
  },
);

export type PermissionRule = Parsed<typeof permissionRule>;
export type PromptJob = Parsed<typeof promptJob>;
export type RunnerJob = Parsed<typeof runnerJob>;
export type PromptOutcome = Parsed<typeof promptOutcome>;
export type TokenUsage = Parsed<typeof tokenUsage>;
