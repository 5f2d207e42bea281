/** What an agent answers to a request to stop; it is kept in its status. The request itself is a wish written into the Agent. */
import type { Agent } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import { AgentisoError, isCode } from '#lib/errors.ts';

type Shutdown = NonNullable<NonNullable<Agent['status']>['shutdown']>;
type Answer = Pick<Shutdown, 'answer' | 'reason'>;

const ANSWERS: Readonly<Record<string, NonNullable<Answer['answer']>>> = { true: 'Accepted', false: 'Refused', deferred: 'Deferred' };

/** Throws Invalid for an answer that is none. */
export function toAnswer(content: string, metadata: Readonly<Record<string, string>> = {}): Answer {
  const answer = Object.hasOwn(ANSWERS, metadata['accepted'] ?? '') ? ANSWERS[metadata['accepted'] ?? ''] : undefined;
  if (answer) return { answer, reason: metadata['reason'] ?? content };
  throw new AgentisoError('Invalid', 'a shutdown_response needs metadata.accepted', { hint: 'accepted is true, false or deferred' });
}

/** An answer that nobody asked for changes nothing. */
export async function keepAnswer(client: Client, agent: Agent, answer: Answer): Promise<void> {
  await changing(client, agent, async (now) => {
    const { shutdown } = now.status ?? {};
    if (shutdown?.requestedAt === undefined) return;
    await client.updateStatus<Agent>({ ...now, status: { ...now.status, shutdown: { ...shutdown, ...answer } } });
  });
}

const MAX_TRIES = 10;

/** Again with what is there by now, when somebody else wrote in between. */
async function changing(client: Client, { metadata: { namespace, name } }: Agent, change: (now: Agent) => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await change(await client.get<Agent>({ kind: 'Agent', namespace, name }));
    } catch (error) {
      if (!isCode(error, 'Conflict') || tries === MAX_TRIES) throw error;
    }
  }
}
