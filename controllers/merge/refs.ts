/** Where a merge keeps what must not go before it has ended. Pure. */
import { createHash } from 'node:crypto';

/** The merged commit, or what was taken of one source. */
export function candidateRef(uid: string, source?: string): string {
  return `${refsOf(uid)}/${source === undefined ? 'candidate' : `sources/${sourceKey(source)}`}`;
}

export function refsOf(uid: string): string {
  return `refs/agentiso/merges/${uid}`;
}

/** Kept by branch-per-source for as long as the Merge is there. */
export function branchOf(merge: string, source: string): string {
  return `${branchesOf(merge)}/${source}`;
}

export function branchesOf(merge: string): string {
  return `refs/heads/agentiso/${merge}`;
}

/** What the team's repository has of an agent. */
export function savedRef(team: string, shortName: string): string {
  return `refs/heads/agents/${team}/${shortName}`;
}

/** A ref needs a short, safe name. */
function sourceKey(name: string): string {
  return createHash('sha256').update(name).digest('hex').slice(0, 12);
}
