/** The post: letters in, copies in inboxes out. The rules are in matrix.ts and route.ts, what people read back in reading.ts. */
import type { Client } from '#client/client.ts';
import { requestStop } from '#client/stop-request.ts';
import { type Clock, systemClock } from '#lib/clock.ts';
import { AgentisoError, type ErrorCode, messageOf } from '#lib/errors.ts';
import { uuidV7 } from '#mail/uuid.ts';
import type { Envelope, MessageType } from '#protocol/relay.ts';
import { allOf } from './all-of.ts';
import { beginDelivery, type DeliveryDeps, type Filed } from './delivery.ts';
import { PlainInboxes } from './plain-inboxes.ts';
import { type ObjectOf, plainDraft } from './plain-letter.ts';
import type { Letter, Post, Posted, Receipt } from './post.ts';
import type { Principal } from './principal.ts';
import { createReading } from './reading.ts';
import { type Inbox, Roster } from './roster.ts';
import { type Route, routeOf, senderFields } from './route.ts';
import { keepAnswer, toAnswer } from './shutdown.ts';
import { type Speaker, type SpeakerDeps, speakerOf } from './speaker.ts';
import { Turns } from './turns.ts';

export interface PostDeps extends DeliveryDeps, SpeakerDeps {
  readonly client: Client;
  /** Where objects are at hand; without it every letter waits for the client. */
  readonly objectOf?: ObjectOf;
  readonly clock?: Clock;
  /** What an agent says it is doing. */
  readonly onProgress?: (uid: string, text: string) => void;
  readonly onRejected?: (code: ErrorCode) => void;
}

/** A copy on its way, or what became of an inbox that takes no message. */
interface Begun {
  readonly inbox: Inbox;
  readonly filed: Promise<Filed | 'asked'>;
}

export function createPost(deps: PostDeps): Post {
  const { client, mail, onProgress, onRejected, clock = systemClock } = deps;
  const roster = new Roster(client);
  const turns = new Turns();
  const reading = createReading({ ...deps, roster });

  const begin = async (speaker: Speaker, letter: Letter) => {
    const route = await routeOf({ client, mail, roster }, speaker, letter);
    const messageId = uuidV7(clock.now().getTime());
    const isAsked = route.type === 'shutdown_request' && speaker.by !== 'system';
    if (route.type === ('shutdown_response' satisfies MessageType)) await keepShutdownAnswer(client, speaker, route, letter);
    const begun: Begun[] = [];
    for (const inbox of route.inboxes) {
      begun.push(isAsked ? ask(inbox, { from: speaker.name, reason: letter.content }) : await deliver(inbox, messageId));
    }
    if (route.type === 'status_update' && speaker.inbox && !route.peer) onProgress?.(speaker.inbox.owner, letter.content);
    return { route, messageId, begun };

    async function deliver(inbox: Inbox, message_id: string): Promise<Begun> {
      const { replyTo, requestId, content, metadata } = letter;
      const words = {
        message_id,
        to: route.to,
        message_type: route.type,
        content,
        ...senderFields(speaker, route, inbox, metadata),
        ...(requestId !== undefined && { request_id: requestId }),
        ...(replyTo !== undefined && { reply_to: replyTo }),
      };
      const { filed } = await beginDelivery(deps, inbox, words).catch((error: unknown) => ({ filed: rejected(error) }));
      return { inbox, filed };
    }
  };

  const ask = (inbox: Inbox, request: Parameters<typeof requestStop>[2]): Begun => {
    const asked = inbox.agent ? requestStop(client, inbox.agent, request) : Promise.resolve();
    return { inbox, filed: asked.then(() => 'asked' as const) };
  };

  /** Undefined: the letter has to be looked at more closely. */
  const sendPlain = (speaker: Speaker, letter: Letter): Promise<Receipt> | undefined => {
    const plain = new PlainInboxes(deps, speaker).of(letter);
    if (!plain) return undefined;
    const { inbox, mailbox } = plain;
    return mailbox.append(plainDraft(speaker, inbox, letter)).then(({ message_id }) => {
      // It is on its way to the guest, and no answer can be here before the sender has heard.
      return { messageId: message_id, accepted: [inbox.name], failed: [], delivered: false };
    });
  };

  const sendCloser = async (speaker: Speaker, letter: Letter): Promise<Receipt> => {
    const { route, messageId, begun } = await turns.take(turnOf(speaker), () => begin(speaker, letter));
    return receiptOf(route, messageId, begun);
  };

  const countRejected = (error: unknown) => onRejected?.(codeOf(error));

  return {
    ...reading,
    async send(principal: Principal, letter: Letter): Promise<Receipt> {
      try {
        const speaker = speakerOf(principal, letter, deps);
        const sent = turns.isFree(turnOf(speaker)) ? sendPlain(speaker, letter) : undefined;
        return await (sent ?? sendCloser(speaker, letter));
      } catch (error) {
        countRejected(error);
        throw error;
      }
    },
    async sendAll(principal: Principal, letters: readonly Letter[]): Promise<readonly Posted[]> {
      const [first] = letters;
      if (!first) return [];
      const speaker = speakerOf(principal, first, deps);
      const turn = turnOf(speaker);
      const inboxes = new PlainInboxes(deps, speaker);
      return allOf(letters, (letter, outcome) => {
        const plain = turns.isFree(turn) ? inboxes.of(letter) : undefined;
        const refused = (error: unknown) => {
          countRejected(error);
          outcome({ error });
        };
        if (plain) {
          const accepted = ({ message_id }: Envelope) => outcome({ messageId: message_id, delivered: false });
          plain.mailbox.put(plainDraft(speaker, plain.inbox, letter), { accepted, refused });
        } else sendCloser(speaker, letter).then(outcome, refused);
      });
    },
  };
}

/** Messages of one sender keep their order, however long the look at one of them takes. */
function turnOf({ inbox, place, name }: Speaker): string {
  return inbox?.owner ?? `${place.namespace} ${name}`;
}

async function keepShutdownAnswer(client: Client, { inbox }: Speaker, { peer }: Route, { content, metadata }: Letter): Promise<void> {
  if (!inbox?.agent || peer) return;
  // Before the message: a sender that hears of no answer says it again.
  await keepAnswer(client, inbox.agent, toAnswer(content, metadata));
}

function rejected(error: unknown): Promise<never> {
  const filed = Promise.reject<never>(error);
  filed.catch(() => {});
  return filed;
}

async function receiptOf(route: Route, messageId: string, begun: readonly Begun[]): Promise<Receipt> {
  const [first] = begun;
  if (first && !route.isToEverybody) {
    const filed = await first.filed;
    return { messageId, accepted: [first.inbox.name], failed: [], delivered: filed !== 'asked' && filed.isDelivered };
  }
  const results = await Promise.allSettled(begun.map(({ filed }) => filed));
  const accepted: string[] = [];
  const failures: { readonly agent: string; readonly error: unknown }[] = [];
  let delivered = begun.length > 0;
  results.forEach((result, index) => {
    const agent = begun[index]?.inbox.name ?? '';
    if (result.status === 'rejected') failures.push({ agent, error: result.reason });
    else accepted.push(agent);
    delivered &&= result.status === 'fulfilled' && result.value !== 'asked' && result.value.isDelivered;
  });
  const failed = failures.map(({ agent, error }) => ({ agent, code: codeOf(error), message: messageOf(error) }));
  if (failed.length > 0 && accepted.length === 0) throw allFailed(failed);
  return { messageId, accepted, failed, delivered };
}

function allFailed(failed: Receipt['failed']): AgentisoError {
  const codes = new Set(failed.map(({ code }) => code));
  const code = codes.size === 1 ? (failed[0]?.code as ErrorCode) : 'Unavailable';
  const list = failed.map(({ agent, code: why }) => `${agent} ${why}`).join(', ');
  return new AgentisoError(code, `nobody has got the message: ${list}`, { hint: 'try again later' });
}

function codeOf(error: unknown): ErrorCode {
  return error instanceof AgentisoError ? error.code : 'Internal';
}
