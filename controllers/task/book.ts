/**
 * The task book: what agents and people do to Tasks by hand. It writes the same status as the controller, by the same rules, and each write
 * is a compare-and-swap: of two that come at once one is first, and the other reads what became of it.
 */
import type { TaskBook } from '#relay/task-book.ts';
import { claimByHand, releaseByHand } from './book-claim.ts';
import type { BookDeps } from './book-desk.ts';
import { decidePlan, submitPlan } from './book-plan.ts';
import { listOpen, makeRequest, makeTask } from './book-request.ts';
import { completeByHand, updateByHand } from './book-work.ts';

export type { BookDeps } from './book-desk.ts';

export function createTaskBook(deps: BookDeps): TaskBook {
  return {
    createTask: (principal, asked) => makeTask(deps, principal, asked),
    openRequests: (namespace, team, principal, limit) => listOpen(deps, principal, { namespace, team }, limit),
    request: (principal, asked) => makeRequest(deps, principal, asked),
    claim: (principal, reference) => claimByHand(deps, principal, reference),
    release: (principal, reference) => releaseByHand(deps, principal, reference),
    complete: (principal, reference, done) => completeByHand(deps, principal, reference, done),
    update: (principal, reference, change) => updateByHand(deps, principal, reference, change),
    submitPlan: (principal, reference, plan) => submitPlan(deps, principal, reference, plan),
    decidePlan: (principal, reference, decision) => decidePlan(deps, principal, reference, decision),
  };
}
