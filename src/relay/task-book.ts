/**
 * The contract of what agents and people do to Tasks by hand. Every change is a compare-and-swap on the Task that is durable before it is
 * answered. Tasks are named by short or full name, within the speaker's team. Refusals are AgentisoErrors: NotFound, Forbidden, Conflict
 * with the reason, FenceLost for a claim that is no longer the caller's.
 */
import type { ClaimResult, OpenRequest, TaskWord } from '#protocol/agent-verbs.ts';
import type { Principal } from './principal.ts';

/** An operator says which team; an agent's own is meant. */
export interface TaskReference {
  readonly namespace: string;
  readonly team: string;
  readonly task: string;
}

export interface TaskBook {
  /** A new Task with a command; by an agent, for itself unless `assignTo` says otherwise. */
  createTask(
    principal: Principal,
    asked: {
      readonly namespace: string;
      readonly team: string;
      readonly title: string;
      readonly command: string;
      readonly timeoutSeconds?: number;
      readonly assignTo?: string;
    },
  ): Promise<{ readonly name: string }>;
  openRequests(namespace: string, team: string, principal: Principal, limit: number): OpenRequest[];
  request(
    principal: Principal,
    asked: {
      readonly namespace: string;
      readonly team: string;
      readonly description: string;
      readonly context?: string;
      readonly timeoutSeconds: number;
    },
  ): Promise<{ readonly requestId: string }>;
  /** First wins. A race that is lost answers `claimed: false` with the winner. */
  claim(principal: Principal, reference: TaskReference): Promise<ClaimResult>;
  release(principal: Principal, reference: TaskReference): Promise<TaskWord>;
  complete(
    principal: Principal,
    reference: TaskReference,
    done: { readonly attempt?: number; readonly result?: string; readonly artifacts?: readonly string[] },
  ): Promise<TaskWord>;
  update(
    principal: Principal,
    reference: TaskReference,
    change: {
      readonly status?: 'in_progress' | 'blocked' | 'failed';
      readonly reason?: string;
      readonly note?: string;
      readonly progress?: string;
    },
  ): Promise<TaskWord>;
  submitPlan(principal: Principal, reference: TaskReference, plan: string): Promise<{ readonly round: number }>;
  /** By the lead or an operator. */
  decidePlan(
    principal: Principal,
    reference: TaskReference,
    decision: { readonly approved: boolean; readonly feedback?: string },
  ): Promise<'approved' | 'refused' | 'failed'>;
}
