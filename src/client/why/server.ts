/** What the server itself lacks, which is in the way of everything: asked of `/readyz`, which any Kubernetes API has. */
import type { Step } from './explain.ts';
import type { Advice } from './finding.ts';
import type { Asking } from './surroundings.ts';
import type { View } from './view.ts';

export interface Complaint {
  /** The name of the check. */
  readonly check: string;
  readonly says: string;
}

export interface ServerStep extends Step {
  readonly advice?: Advice;
}

const FAILED = /^\[-\](\S+) failed: (.*)$/gm;
const UNREADY = 503;
const ADVICE: Readonly<Record<string, string>> = {
  home: 'make room there, or give it back to the daemon; everything goes on by itself then',
  reconcile: 'look at what the daemon says on standard error; if it stays so, start it again: nothing is lost',
};

export async function askServer({ connection, signal }: Asking): Promise<readonly Complaint[]> {
  const response = await connection.request({ method: 'GET', path: '/readyz', signal });
  const body = await response.text();
  if (response.status !== UNREADY) return [];
  return [...body.matchAll(FAILED)].map(([, check = '', says = '']) => ({ check, says }));
}

export function serverSteps({ complaints }: View): readonly ServerStep[] {
  return complaints.map(({ check, says }) => {
    const text = ADVICE[check];
    return { object: 'daemon', says: 'is not ready', because: says, ...(text === undefined ? {} : { advice: { text } }) };
  });
}
