/** What to do next after a refusal that does not say so itself. Pure. */
import type { ToolError } from '#protocol/tool-surface.ts';

const HINTS: Readonly<Record<string, string>> = {
  Unauthenticated: 'the token is not valid any more: ask the operator for a new one, and connect again',
  Forbidden: 'this needs more rights than you have: ask the operator for a token of the role admin',
  NotFound: 'see what there is with get or team_list',
  AlreadyExists: 'choose another name, or look at what is there with get',
  Conflict: 'somebody else changed it: read it again with get, then repeat the call',
  Expired: 'it changed too much since then: read it again with get, without a version',
  TooLarge: 'send less in one call',
  QuotaExceeded: 'see team_status for what is used; free something with team_destroy, or ask for less',
  DepthExceeded: 'make the team below a team that is higher up',
  RateLimited: 'wait for retry_after_ms, then call again',
  InboxFull: 'wait until the agent has read its mail; get_agent_status says whether it does',
  Unavailable: 'try again in a moment; get_agent_status or get say how things are',
  Timeout: 'what was begun may go on: look with get before you call again',
  IoError: "ask the operator to look at the daemon's log",
  Internal: "ask the operator to look at the daemon's log",
  FenceLost: 'somebody else has this task now: look with get',
};

export function withHint(error: ToolError, tool: string): ToolError {
  if (error.hint !== undefined) return error;
  const hint = HINTS[error.code] ?? `compare the call with the input schema of ${tool}`;
  return { ...error, hint };
}
