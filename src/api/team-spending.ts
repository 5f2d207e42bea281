/**
 * What of a team's or an agent's tokens, money and time is used, and what is set aside for claimed Tasks. A Task counts in the agent that has it,
 * in its own team and in every team above that has a limit; each of them has a ledger in its status. Pure.
 */
import { type Amounts, DIMENSIONS, eachAmount, eachSum, isLimited, type Sum, toAmounts, toSum, toWritten } from './amounts.ts';
import type { Agent, Team } from './types.ts';

type Spending = NonNullable<NonNullable<Team['status']>['spending']>;

export interface Claim {
  readonly uid: string;
  readonly task: string;
  /** What the Task may use in this claim. */
  readonly reserved: Amounts;
  /** What it had used before, all attempts together: only what comes on top is this claim's. */
  readonly before: Sum;
}

export interface Ledger {
  readonly limits: Amounts;
  readonly used: Sum;
  readonly claims: readonly Claim[];
}

/** Whoever has limits. */
export type Holder = Team | Agent;

export function ledgerOf({ spec, status }: Pick<Holder, 'spec' | 'status'>): Ledger {
  const { used, claims = [] } = status?.spending ?? {};
  return {
    limits: toAmounts(spec.budget),
    used: toSum(used),
    claims: claims.map(({ uid, task, reserved, before }) => ({ uid, task, reserved: toAmounts(reserved), before: toSum(before) })),
  };
}

export function claimIn({ claims }: Ledger, uid: string): Claim | undefined {
  return claims.find((claim) => claim.uid === uid);
}

/** What may still be set aside for this Task, what it has already included; may be less than nothing. */
export function roomFor({ limits, used, claims }: Ledger, uid: string): Amounts {
  return eachAmount((dimension) => {
    const limit = limits[dimension];
    if (limit === undefined) return undefined;
    const others = claims.filter((claim) => claim.uid !== uid);
    return limit - used[dimension] - others.reduce((sum, { reserved }) => sum + (reserved[dimension] ?? 0), 0);
  });
}

export function withClaim(ledger: Ledger, claim: Claim): Ledger {
  const others = ledger.claims.filter(({ uid }) => uid !== claim.uid);
  return { ...ledger, claims: [...others, claim] };
}

/** The last answers of a claim may have cost more than was set aside: what is gone can be given to nobody else. `used`: as for withoutClaim. */
export function withOverdraft(ledger: Ledger, uid: string, used: Sum): Ledger {
  const claim = claimIn(ledger, uid);
  if (!claim) return ledger;
  const gone = eachSum((dimension) => Math.floor(used[dimension] - claim.before[dimension]));
  const isOver = DIMENSIONS.some((dimension) => gone[dimension] > (claim.reserved[dimension] ?? Number.POSITIVE_INFINITY));
  if (!isOver) return ledger;
  const reserved = eachAmount((dimension) =>
    claim.reserved[dimension] === undefined ? undefined : Math.max(claim.reserved[dimension], gone[dimension]),
  );
  return withClaim(ledger, { ...claim, reserved });
}

/** The claim is over: what it has really used counts, the rest is free again. `used`: of the Task, all attempts together. */
export function withoutClaim(ledger: Ledger, uid: string, used: Sum): Ledger {
  const claim = claimIn(ledger, uid);
  if (!claim) return ledger;
  return {
    ...ledger,
    used: eachSum((dimension) => ledger.used[dimension] + Math.max(0, used[dimension] - claim.before[dimension])),
    claims: ledger.claims.filter((other) => other !== claim),
  };
}

/** For the status; undefined while there is nothing to say. */
export function toSpending({ limits, used, claims }: Ledger): Spending | undefined {
  const isUsed = DIMENSIONS.some((dimension) => used[dimension] > 0);
  if (!isLimited(limits) && !isUsed && claims.length === 0) return undefined;
  const reserved = eachSum((dimension) => claims.reduce((sum, claim) => sum + (claim.reserved[dimension] ?? 0), 0));
  return {
    used: toWritten(used),
    reserved: toWritten(reserved),
    remaining: toWritten(roomFor({ limits, used, claims }, '')),
    ...(claims.length > 0 && {
      claims: claims.map((claim) => ({
        uid: claim.uid,
        task: claim.task,
        reserved: toWritten(claim.reserved),
        before: toWritten(claim.before),
      })),
    }),
  };
}
