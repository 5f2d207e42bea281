/** Where the plain letters of one sender go, looked up once for each name: for what is sent within one turn of the event loop. */
import type { Mail, Mailbox } from '#mail/mail.ts';
import { isPlain, type ObjectOf, plainInbox } from './plain-letter.ts';
import type { Letter } from './post.ts';
import type { Inbox } from './roster.ts';
import type { Speaker } from './speaker.ts';

interface PlainInboxesDeps {
  readonly mail: Pick<Mail, 'opened'>;
  readonly objectOf?: ObjectOf;
}

interface Found {
  readonly inbox: Inbox;
  readonly mailbox: Mailbox;
}

export class PlainInboxes {
  readonly #deps: PlainInboxesDeps;
  readonly #speaker: Speaker;
  readonly #known = new Map<string, Found | undefined>();

  constructor(deps: PlainInboxesDeps, speaker: Speaker) {
    this.#deps = deps;
    this.#speaker = speaker;
  }

  /** Undefined: the letter has to be looked at more closely. */
  of(letter: Letter): Found | undefined {
    if (!isPlain(this.#speaker, letter)) return undefined;
    if (!this.#known.has(letter.to)) this.#known.set(letter.to, this.#look(letter.to));
    return this.#known.get(letter.to);
  }

  #look(to: string): Found | undefined {
    const { mail, objectOf } = this.#deps;
    const inbox = objectOf && plainInbox(objectOf, this.#speaker, to);
    const mailbox = inbox && mail.opened(inbox.owner);
    return mailbox && { inbox, mailbox };
  }
}
