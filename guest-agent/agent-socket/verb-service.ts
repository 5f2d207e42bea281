/**
 * The verbs of this agent, one set for all of its doors: the socket, HTTP and the host's calls of tools. So there is one place where mail is
 * given out and acknowledged.
 */
import type { ConfigureParams } from '#protocol/control.ts';
import { ProtocolError } from '#protocol/protocol-error.ts';
import type { Guest } from '../guest.ts';
import type { Fields } from '../http/body.ts';
import type { HostLink } from '../relay/link.ts';
import type { Inbox } from '../state/inbox.ts';
import type { MailReader } from './mail-reader.ts';
import type { Asker, Speaker, Verb, VerbAnswer } from './verbs.ts';
import type { Waits } from './waits.ts';

export interface VerbService {
  readonly verbs: ReadonlyMap<string, Verb>;
  readonly reader: MailReader;
  readonly speaker: Speaker;
  readonly warn: (text: string) => void;
}

export interface VerbServiceParts {
  readonly guest: Guest;
  readonly inbox: Inbox;
  readonly host: Pick<HostLink, 'call'>;
  /** Tells the host what was seen, soon. */
  readonly report: () => void;
  readonly waits: Waits;
}

export class AgentVerbs {
  readonly #parts: VerbServiceParts;
  #service: VerbService | undefined;

  constructor(parts: VerbServiceParts) {
    this.#parts = parts;
  }

  /** Refused until the host has said who this is. */
  get(): VerbService {
    if (this.#service === undefined) throw new ProtocolError('Unavailable', 'this agent is not configured yet');
    return this.#service;
  }

  async configure({ card }: Pick<ConfigureParams, 'card'>): Promise<void> {
    // Loaded here: a guest that is never configured needs none of it.
    const [{ MailReader }, { createVerbs }] = await Promise.all([import('./mail-reader.ts'), import('./verbs.ts')]);
    const { guest, inbox, host, report, waits } = this.#parts;
    const warn = (text: string) => guest.log.write('guest', text);
    // What it has given out is still to be acknowledged.
    const reader = this.#service?.reader ?? new MailReader({ inbox, host, report, waits, warn });
    this.#service = { reader, verbs: createVerbs({ reader, host }), speaker: { names: namesOf(card, guest) }, warn };
  }
}

/** Every door asks this way: that somebody goes on is the proof that its earlier answers have arrived. */
export async function askVerb(service: VerbService, verb: Verb, fields: Fields, asker: Omit<Asker, 'speaker'>): Promise<VerbAnswer> {
  const { reader, speaker } = service;
  if (verb.isProof) await reader.acknowledgeGivenTo(asker.reader);
  return verb.run(fields, { ...asker, speaker });
}

/** Its short name first, then the one that is unique in the namespace. */
function namesOf({ name, team }: Readonly<Record<string, unknown>>, { id }: Guest): readonly string[] {
  if (typeof name !== 'string') return [id];
  return typeof team === 'string' ? [name, `${team}-${name}`, `${team}/${name}`] : [name];
}
