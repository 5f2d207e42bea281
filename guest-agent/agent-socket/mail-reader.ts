/**
 * The mail of the agent as its programs read it. What `check` has given to a reader is acknowledged by the next thing that the same one asks
 * for: that it goes on is the proof that the answer has arrived. What one has in hand is kept from the others while it lives; one that ends
 * before it went on has proved nothing, and the next is shown the same.
 */
import type { OpenRequest } from '#protocol/agent-verbs.ts';
import type { Checked, CheckParams, WaitParams } from '#protocol/mail-verbs.ts';
import type { Envelope } from '#protocol/relay.ts';
import type { HostLink } from '../relay/link.ts';
import type { Inbox } from '../state/inbox.ts';
import { GivenOut } from './given-out.ts';
import { waitForMail } from './mail-wait.ts';
import type { Reader } from './readers.ts';
import type { Waits } from './waits.ts';

const DEFAULT_LIMIT = 10;
const DEFAULT_WAIT_SECONDS = 30;
const OPEN_REQUESTS_MS = 2_000;
/**
 * As JSON. The answer of a tool says everything twice, the second time as text within JSON, and must fit into one frame whatever the
 * messages consist of.
 */
const MAX_MESSAGE_BYTES = 1024 * 1024;
const MAX_REQUEST_BYTES = 128 * 1024;

export interface MailReaderParts {
  readonly inbox: Inbox;
  readonly host: Pick<HostLink, 'call'>;
  /** Tells the host what was seen, soon. */
  readonly report: () => void;
  readonly waits: Waits;
  readonly warn: (text: string) => void;
}

export class MailReader {
  readonly #parts: MailReaderParts;
  readonly #givenOut = new GivenOut();

  constructor(parts: MailReaderParts) {
    this.#parts = parts;
  }

  /** The answer with these messages has left the guest. */
  gaveOut(reader: Reader, messages: readonly Envelope[]): void {
    this.#givenOut.add(
      reader,
      messages.map(({ message_id }) => message_id),
    );
  }

  /** It asks for something: what it was given before has arrived. */
  async acknowledgeGivenTo(reader: Reader): Promise<void> {
    const ids = this.#givenOut.to(reader);
    if (ids.length === 0) return;
    try {
      await this.#acknowledge(ids);
    } catch (error) {
      // Shown once more rather than lost: the next call tries again.
      this.#parts.warn(`messages were not marked as seen: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  async check(reader: Reader, params: CheckParams, signal: AbortSignal): Promise<Checked> {
    const { inbox } = this.#parts;
    const { from, limit = DEFAULT_LIMIT, ack = [] } = params;
    const unknown_acks = ack.length === 0 ? [] : await this.#acknowledge(ack);
    const requests = limit === 0 ? { open_requests: [] } : await this.#openRequests(signal);
    const inOtherHands = this.#givenOut.toOthers(reader);
    const unseen = inbox.unseen().filter(({ message_id }) => !inOtherHands.has(message_id));
    const wanted = unseen.filter((message) => from === undefined || message.from === from).slice(0, limit);
    // One in any case: else a large message would keep all others back.
    const messages = wanted.slice(0, Math.max(1, countWithin(wanted, MAX_MESSAGE_BYTES)));
    return { messages, ...requests, unacked: unseen.length, next_seq: inbox.lastSeq + 1, unknown_acks };
  }

  async wait(params: WaitParams, signal: AbortSignal): Promise<{ readonly message: Envelope | null; readonly timed_out: boolean }> {
    const timeoutMs = (params.timeout_seconds ?? DEFAULT_WAIT_SECONDS) * 1000;
    const { inbox, waits } = this.#parts;
    const message = await waits.during(waitForMail(inbox, wantedBy(params), { timeoutMs, signal }));
    return { message: message ?? null, timed_out: message === undefined };
  }

  async #acknowledge(ids: readonly string[]): Promise<readonly string[]> {
    const unknown = await this.#parts.inbox.markSeen(ids);
    this.#givenOut.remove(ids);
    this.#parts.report();
    return unknown;
  }

  /** Mail is here whether the host is or not: what only the host knows must not keep it back. */
  async #openRequests(signal: AbortSignal): Promise<Pick<Checked, 'open_requests' | 'note'>> {
    try {
      const { requests } = await this.#parts.host.call('openRequests', {}, { signal, deadlineMs: OPEN_REQUESTS_MS });
      return shortEnough(requests);
    } catch (error) {
      signal.throwIfAborted();
      return { open_requests: [], note: `open requests are not known: ${error instanceof Error ? error.message : String(error)}` };
    }
  }
}

/** One that is long is in the mail, too. */
function shortEnough(requests: readonly OpenRequest[]): Pick<Checked, 'open_requests' | 'note'> {
  const open_requests = requests.slice(0, countWithin(requests, MAX_REQUEST_BYTES));
  const missing = requests.length - open_requests.length;
  return { open_requests, ...(missing > 0 && { note: `${missing} more open requests are too long to be shown here` }) };
}

/** How many of the first have so many bytes together. */
function countWithin(items: readonly object[], maxBytes: number): number {
  let bytes = 0;
  const end = items.findIndex((item) => {
    bytes += Buffer.byteLength(JSON.stringify(item));
    return bytes > maxBytes;
  });
  return end < 0 ? items.length : end;
}

function wantedBy({ from, request_id, message_type }: WaitParams): (message: Envelope) => boolean {
  return (message) =>
    (from === undefined || message.from === from) &&
    (request_id === undefined || message.request_id === request_id) &&
    (message_type === undefined || message.message_type === message_type);
}
