/**
 * How many coding agents work on prompts at once, in all teams together: each is a program of some hundred megabytes, and providers count as
 * well. Fed by what is seen of Tasks and Agents, and by claims that are decided and not stored yet.
 */
import type { Agent, Task } from '#api/types.ts';
import type { Key, Wake } from '#runtime/controller.ts';
import { isHeld, isVerifying } from './card.ts';
import { backendOf } from './roster.ts';

export const MOST_RUNS = 10;
export const MOST_OF_BACKEND = 3;

interface Run {
  readonly namespace: string;
  readonly owner: string;
  readonly attempt: number;
}

export class PromptRuns {
  /** Task uid → who has it. */
  readonly #runs = new Map<string, Run>();
  /** Agent → its backend. */
  readonly #backends = new Map<string, string>();
  readonly #waiting = new Map<string, Key>();
  readonly #listeners = new Set<(key: Key) => void>();

  readonly wake: Wake = (enqueue) => {
    this.#listeners.add(enqueue);
    return () => this.#listeners.delete(enqueue);
  };

  onAgent(agent: Agent): void {
    this.#backends.set(idOf(agent.metadata.namespace, agent.metadata.name), backendOf(agent));
  }

  onTask(task: Task, type: string): void {
    const { uid, namespace } = task.metadata;
    const { owner, attempt = 0 } = task.status ?? {};
    if (type === 'DELETED') {
      this.#waiting.delete(uid);
      this.release(uid);
    } else if (owner !== undefined && isRun(task)) this.#runs.set(uid, { namespace, owner, attempt });
    // News of before a claim that is on its way says nothing about it.
    else if (attempt >= (this.#runs.get(uid)?.attempt ?? 0)) this.release(uid);
  }

  /** Why no further one may start on this agent; undefined: it may. */
  whyNot(agent: Agent): string | undefined {
    if (this.#runs.size >= MOST_RUNS) return `${MOST_RUNS} prompts are being worked on already`;
    const backend = backendOf(agent);
    let count = 0;
    for (const { namespace, owner } of this.#runs.values()) if (this.#backends.get(idOf(namespace, owner)) === backend) count += 1;
    return count >= MOST_OF_BACKEND ? `${MOST_OF_BACKEND} prompts are being worked on by ${backend} already` : undefined;
  }

  /** Decided; the next decision counts it. */
  claim({ metadata: { uid, namespace }, status }: Task, agent: Agent): void {
    this.onAgent(agent);
    this.#waiting.delete(uid);
    this.#runs.set(uid, { namespace, owner: agent.metadata.name, attempt: (status?.attempt ?? 0) + 1 });
  }

  /** Looked at again when there is room. */
  wait({ metadata: { uid, namespace, name } }: Task): void {
    this.#waiting.set(uid, { kind: 'Task', namespace, name });
  }

  /** Ended, or never begun. */
  release(uid: string): void {
    if (!this.#runs.delete(uid)) return;
    for (const key of this.#waiting.values()) for (const listener of this.#listeners) listener(key);
  }
}

/** A prompt that somebody has taken by itself runs nowhere that is known here, and what is verified is over. */
function isRun(task: Task): boolean {
  return typeof task.spec.prompt === 'string' && isHeld(task) && task.status?.claim === 'Assigned' && !isVerifying(task);
}

function idOf(namespace: string, agent: string): string {
  return `${namespace}/${agent}`;
}
