/** The secrets of the guests' HTTP interfaces: one per team, new when a member has left, and one per agent. In memory only. */
import { randomBytes } from 'node:crypto';

const TOKEN_BYTES = 32;

interface TeamToken {
  readonly token: string;
  readonly members: ReadonlySet<string>;
}

export class TeamTokens {
  readonly #teams = new Map<string, TeamToken>();
  readonly #agents = new Map<string, string>();

  /** `members`: uids of all agents of the team. */
  ofTeam(team: string, members: readonly string[]): string {
    const before = this.#teams.get(team);
    const now = new Set(members);
    const hasLost = before !== undefined && [...before.members].some((member) => !now.has(member));
    const token = before === undefined || hasLost ? newToken() : before.token;
    this.#teams.set(team, { token, members: now });
    return token;
  }

  ofAgent(uid: string): string {
    const token = this.#agents.get(uid) ?? newToken();
    this.#agents.set(uid, token);
    return token;
  }

  forgetAgent(uid: string): void {
    this.#agents.delete(uid);
  }
}

function newToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}
