/** The contract of rate limits: one token bucket per principal and category, shared by all connections of that principal. */
import type { ToolCategory } from '#protocol/tool-surface.ts';

export interface Rate {
  readonly burst: number;
  readonly perMinute: number;
}

export type Rates = Readonly<Record<ToolCategory, Rate>>;

export const USUAL_RATES: Rates = {
  team_message: { burst: 50, perMinute: 300 },
  create: { burst: 3, perMinute: 5 },
  exec: { burst: 10, perMinute: 60 },
  default: { burst: 20, perMinute: 120 },
};

export interface RateLimits {
  /** Takes one, or throws RateLimited with `retryAfterMs`. `principal` is the uid of an agent or the name of a user. */
  charge(principal: string, category: ToolCategory): void;
  /** Takes more than there may be: what was made was admitted with its first token. */
  chargeBeyond(principal: string, category: ToolCategory, count: number): void;
  /** An agent that is gone needs no bucket. */
  forget(principal: string): void;
}
