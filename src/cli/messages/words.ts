/** Messages as text for people: a row of a table, a letter in an inbox, a line of `up`. Pure. */
import type { FiledMessage } from '#client/messages.ts';
import { escapeControl } from '#lib/escape.ts';

/** Who has it in the inbox; of a copy for everybody that is said too. */
export function recipientOf({ inbox, message }: FiledMessage): string {
  const name = inbox.slice(inbox.indexOf('/') + 1);
  return message.to === '*' ? `${name} (*)` : name;
}

/** The first line that says something, without what would move the cursor. */
export function firstLine(content: string): string {
  const [line = '', ...rest] = content.trim().split('\n');
  return escapeControl(line.replaceAll('\t', ' ')) + (rest.length > 0 ? ' …' : '');
}

/** Of today the time, of other days also the date; as the clock on the wall. */
export function timeText(timestamp: string, now: Date): string {
  const time = new Date(timestamp);
  if (Number.isNaN(time.getTime())) return timestamp;
  const two = (value: number) => String(value).padStart(2, '0');
  const clock = `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
  const isToday = time.toDateString() === now.toDateString();
  return isToday ? clock : `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())} ${clock}`;
}

/** For the inbox of people: who, when, what kind, which one, and all that was said. */
export function letterText(filed: FiledMessage, now: Date): string {
  const { message, state } = filed;
  const kind = message.message_type === 'text' ? '' : `  ${message.message_type}`;
  const about = [
    message.metadata?.['task'] ? `task ${message.metadata['task']}` : '',
    message.reply_to ? `answers ${message.reply_to}` : '',
  ];
  const seen = state === 'Seen' ? ['seen'] : [];
  const more = [...about.filter(Boolean), ...seen].map((each) => `  ${each}`).join('');
  const body = message.content.replace(/\n+$/, '').split('\n');
  return [
    `${message.team}/${senderOf(message)}  ${timeText(message.timestamp, now)}${kind}${more}  ${message.message_id}`,
    ...body.map((line) => `  ${escapeControl(line)}`),
    '',
  ].join('\n');
}

/** One of another team says its own team itself. */
function senderOf({ from, team }: FiledMessage['message']): string {
  return from.startsWith(`${team}/`) ? from.slice(team.length + 1) : from;
}

/** From whom no answer would be read: the controllers, and people themselves. */
const NOBODY: readonly string[] = ['system', 'orchestrator'];
const DECIDING: readonly string[] = ['plan_submission'];

/** What a person can do about what is in the inbox. */
export function howToAnswer(items: readonly FiledMessage[], flags = ''): string {
  const [last] = items.slice(-1);
  if (!last) return '';
  const { team, message_id: id } = last.message;
  const agent = items.findLast(({ message }) => !NOBODY.includes(message.from))?.message;
  const submitted = items.findLast(({ message }) => DECIDING.includes(message.message_type))?.message;
  const plan = submitted?.metadata?.['task'] && `${submitted.team}/${submitted.metadata['task']}`;
  return [
    ...(plan ? [`a plan: agentiso approve ${plan}${flags}, or agentiso refuse ${plan} --feedback TEXT${flags}`] : []),
    ...(agent ? [`answer: agentiso message ${agent.team}/${senderOf(agent)}${flags} --reply-to ${agent.message_id} TEXT`] : []),
    `put away: agentiso inbox${flags} --ack ${items.length === 1 ? id : 'all'}${items.length === 1 ? '' : ` (or --ack ID, or agentiso inbox ${team} --ack all)`}`,
    '',
  ].join('\n');
}

/** Among other lines, as `up` prints them: `message/sprint coder-1 to lead: the patch is ready`. */
export function messageLine({ message, state, inbox }: FiledMessage): string {
  const to = message.to === '*' ? '*' : inbox.slice(inbox.indexOf('/') + 1);
  const kind = message.message_type === 'text' ? '' : ` (${message.message_type})`;
  const lost = state === 'DeadLetter' ? ' could not be delivered:' : '';
  return `message/${message.team} ${senderOf(message)} to ${to}${kind}:${lost} ${firstLine(message.content)}\n`;
}
