/** The last messages to an agent, or to the people of a team, as a section of describe. */
import { shortName } from '#api/types.ts';
import { type FiledMessage, PEOPLE, readMessages } from '#client/messages.ts';
import type { ApiObject } from '#client/resource-api.ts';
import { ageOf } from '#lib/age.ts';
import { AgentisoError } from '#lib/errors.ts';
import { toCell } from '#lib/escape.ts';
import { isObject } from '#lib/json.ts';
import type { Session } from '../api-command.ts';
import { listing } from '../print/listing.ts';
import { firstLine } from './words.ts';

const SHOWN = 5;

/** None where nobody may read them, or nobody keeps any. */
export async function lastMessages(session: Session, object: ApiObject): Promise<readonly string[]> {
  const place = session.isDaemon ? inboxOf(object) : undefined;
  if (!place) return [];
  try {
    const items = await readMessages(session, { namespace: object.metadata.namespace ?? session.namespace, ...place, limit: SHOWN });
    return items.length === 0 ? [] : messageLines(items, new Date());
  } catch (error) {
    if (error instanceof AgentisoError) return [];
    throw error;
  }
}

function inboxOf({ kind, metadata: { name = '' }, spec }: ApiObject): { team: string; inbox: string } | undefined {
  if (kind === 'Team') return { team: name, inbox: PEOPLE };
  const team = isObject(spec) ? spec['team'] : undefined;
  return kind === 'Agent' && typeof team === 'string' ? { team, inbox: shortName(team, name) } : undefined;
}

function messageLines(items: readonly FiledMessage[], now: Date): string[] {
  const rows = items.map(({ message, state }) => {
    const { from, message_type, timestamp, content } = message;
    return [from, message_type, state, ageOf(timestamp, now), firstLine(content)].map(toCell);
  });
  return ['Messages:', ...listing(['From', 'Type', 'State', 'Age', 'Message'], rows)];
}
