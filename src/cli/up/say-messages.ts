/** What agents say to each other while `up` runs, as lines among the others. A daemon that cannot tell is no reason to stop. */
import type { Connection } from '#client/connection.ts';
import { type FiledMessage, followMessages, readMessages } from '#client/messages.ts';
import { AgentisoError, messageOf } from '#lib/errors.ts';
import { firstSight } from '../messages/first-sight.ts';
import { messageLine } from '../messages/words.ts';

export interface SayMessagesOptions {
  readonly connection: Connection;
  /** `namespace/team` of those that are followed. */
  readonly teams: ReadonlySet<string>;
  /** What is older was said in an earlier run. */
  readonly since: Date;
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

export interface SaidMessages {
  /** Says what was sent before now and has not come yet. */
  catchUp(): Promise<void>;
}

/** Of one team at once; more than anybody reads. */
const MOST = 1_000;
/** What controllers say is on the board already. */
const SYSTEM = 'system';

export function sayMessages({ connection, teams, since, say, signal }: SayMessagesOptions): SaidMessages {
  const namespaces = [...new Set([...teams].map((team) => team.slice(0, team.indexOf('/'))))];
  const isNews = firstSight();
  const told = (filed: FiledMessage) => {
    const { message } = filed;
    const isOurs = teams.has(`${message.namespace}/${message.team}`) && message.from !== SYSTEM;
    if (!isOurs || Date.parse(message.timestamp) < since.getTime()) return;
    // A message to everybody is one line, however many have it.
    const once = message.to === '*' && filed.state !== 'DeadLetter' ? { ...filed, inbox: '*/*' } : filed;
    if (isNews(once)) say(messageLine(filed));
  };
  const follow = async (namespace: string) => {
    for await (const filed of followMessages({ connection, signal }, { namespace })) told(filed);
  };
  const giveUp = (error: unknown) => {
    if (!signal.aborted && !(error instanceof AgentisoError)) say(`messages are not shown: ${messageOf(error)}\n`);
  };
  for (const namespace of namespaces) void follow(namespace).catch(giveUp);
  return {
    async catchUp() {
      for (const namespace of namespaces) {
        await readMessages({ connection, signal }, { namespace, limit: MOST })
          .then((items) => items.forEach(told))
          .catch(giveUp);
      }
    },
  };
}
