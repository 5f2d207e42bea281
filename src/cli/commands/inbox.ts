/** `agentiso inbox`: what agents have to say to people. */
import { acknowledgeMessages, type FiledMessage, followMessages, PEOPLE, readMessages } from '#client/messages.ts';
import { NotFoundError } from '#lib/errors.ts';
import { apiCommand, type Session, text } from '../api-command.ts';
import { EXIT, type OptionValues } from '../command.ts';
import { checkAddress, parseAddress } from '../messages/address.ts';
import { firstSight } from '../messages/first-sight.ts';
import { howToAnswer, letterText } from '../messages/words.ts';
import { toJson } from '../print/json.ts';
import { UsageError } from '../usage-error.ts';

/** As many as one question may ask for. */
const MOST = 1_000;

export const inboxCommand = apiCommand({
  name: 'inbox',
  args: '[team]',
  summary: 'show what agents have to say to people',
  description:
    'Shows the messages for people of a team, or of all teams of the namespace, that nobody has put away yet. Looking keeps them; --ack puts one or all of them away.',
  options: [
    { flags: '-f, --follow', description: 'then print every new one' },
    { flags: '--ack <id>', description: 'put a message away, by its identifier or the beginning of it; all for all of them' },
    { flags: '--all', description: 'also those that were put away in the last 24 hours' },
    { flags: '-o, --output <format>', description: 'json', choices: ['json'] },
  ],
  async run([word], options, session) {
    const address = word === undefined ? undefined : parseAddress(word);
    if (address?.agent !== undefined) {
      throw new UsageError('the inbox of people is per team', { hint: `agentiso messages ${word} shows what an agent was told` });
    }
    if (address) await checkAddress(address, session);
    const filter = { namespace: session.namespace, team: address?.team, inbox: PEOPLE };
    const ack = text(options['ack']);
    if (ack !== undefined) return putAway(session, await readMessages(session, { ...filter, unseen: true, limit: MOST }), ack);
    const wanted = { ...filter, unseen: options['all'] === true ? undefined : true, limit: MOST };
    if (options['follow'] === true) return follow(session, wanted, options);
    return show(session, await readMessages(session, wanted), options);
  },
});

type Filter = Parameters<typeof followMessages>[1];

function show(session: Session, items: readonly FiledMessage[], options: OptionValues): number {
  if (options['output'] === 'json') session.out(toJson({ items }));
  else if (items.length === 0) session.err(`Nothing new for you in ${session.namespace} namespace.\n`);
  else {
    const now = new Date();
    session.out(items.map((filed) => letterText(filed, now)).join('\n'));
    session.err(`\n${howToAnswer(items, flagsOf(options))}`);
  }
  return EXIT.ok;
}

async function follow(session: Session, filter: Filter, options: OptionValues): Promise<number> {
  const isNews = firstSight();
  for await (const filed of followMessages(session, filter)) {
    if (options['output'] === 'json') session.out(`${JSON.stringify(filed)}\n`);
    else if (isNews(filed)) session.out(`${letterText(filed, new Date())}\n`);
  }
  return session.signal.aborted ? EXIT.interrupted : EXIT.ok;
}

async function putAway(session: Session, items: readonly FiledMessage[], ack: string): Promise<number> {
  const chosen = ack === 'all' ? items : [theOne(items, ack)];
  const teams = new Set(chosen.map(({ message }) => message.team));
  let unknown = 0;
  for (const team of teams) {
    const messageIds = chosen.filter(({ message }) => message.team === team).map(({ message }) => message.message_id);
    unknown += (await acknowledgeMessages(session, { namespace: session.namespace, team, messageIds })).unknown.length;
  }
  session.out(`${chosen.length - unknown} put away\n`);
  return unknown === 0 ? EXIT.ok : EXIT.failure;
}

function theOne(items: readonly FiledMessage[], id: string): FiledMessage {
  const found = items.filter(({ message }) => message.message_id.startsWith(id));
  const [one] = found;
  if (one && found.length === 1) return one;
  if (found.length > 1) throw new UsageError(`${found.length} messages begin with ${id}; give more of it`, { hint: '' });
  throw new NotFoundError(`there is no message ${id} for people that is not put away already`, { hint: 'agentiso inbox shows them' });
}

function flagsOf(options: OptionValues): string {
  const namespace = text(options['namespace']);
  return namespace === undefined ? '' : ` -n ${namespace}`;
}
