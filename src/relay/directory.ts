/** The contract of what an agent may know of, and add to, the teams around it. */
import type { AgentInfo, AgentVerbs } from '#protocol/agent-verbs.ts';
import type { ParamsOf, ResultOf } from '#protocol/method.ts';
import type { Principal } from './principal.ts';

/** Refusals are AgentisoErrors: Forbidden by the team's policy, QuotaExceeded and DepthExceeded by its budget, Invalid for what was asked. */
export interface Directory {
  /** Agents that live, of the own team, its parent and its direct sub-teams. */
  listAgents(principal: Principal): Promise<AgentInfo[]>;
  createSubTeam(principal: Principal, asked: ParamsOf<AgentVerbs, 'createSubTeam'>): Promise<ResultOf<AgentVerbs, 'createSubTeam'>>;
  budget(principal: Principal): Promise<ResultOf<AgentVerbs, 'getBudget'>>;
}
