/** Where what lies in a team's repository. Pure. */

/** The branch of an agent, as people see it. */
export function agentBranch(team: string, agent: string): string {
  return `agents/${team}/${agent}`;
}

export function branchRef(branch: string): string {
  return `refs/heads/${branch}`;
}

/** Everything an agent's workspace held at the last look: what came in, before it was looked through. */
export function incomingRef(agentUid: string): string {
  return `refs/agentiso/incoming/${agentUid}`;
}

/** What was not committed at the last look. */
export function wipRef(agentUid: string): string {
  return `refs/agentiso/wip/${agentUid}`;
}

/** Stashes and other branches at the last look. */
export function keptRef(agentUid: string): string {
  return `refs/agentiso/kept/${agentUid}`;
}

/** A commit that a workspace started from: it is nobody's work, and stays for as long as the repository does. */
export function baseRef(commit: string): string {
  return `${BASE_REFS}/${commit}`;
}

export const BASE_REFS = 'refs/agentiso/bases';
export const RESCUE_REFS = 'refs/agentiso/rescue';
export const SOURCE_REFS = 'refs/agentiso/source';

/** What was not merged when the workspace of that agent was removed. */
export function rescueRef(agentUid: string): string {
  return `${RESCUE_REFS}/${agentUid}`;
}
