/** Who a team is to this machine: one uid for each, so that teams cannot touch each other's files. */
import { StalledError } from '#lib/errors.ts';

/** Team n has the host's uid FIRST_UID + n. */
const FIRST_UID = 70_000;
const MAX_TEAM = 65_535;

export function uidOf(team: number): number {
  if (Number.isSafeInteger(team) && team >= 0 && team <= MAX_TEAM) return FIRST_UID + team;
  throw new StalledError('InvalidTeamNumber', `a team's number must be from 0 to ${MAX_TEAM}, and this is not: ${team}`);
}
