/**
 * Unread messages as they are put in front of a prompt. Pure. Nothing that anybody writes can end the block, or look like a message of
 * somebody else: a message begins with its sender's name, and every further line of it is indented.
 */
import type { Envelope } from '#protocol/relay.ts';

export const BEGIN_MESSAGES = '--- Messages from other agents ---';
export const END_MESSAGES = '--- End messages ---';
/** Of the whole block, markers included. */
export const MAX_UNREAD_BYTES = 32 * 1024;

const INDENT = '    ';
/** Whatever anybody takes for the end of a line. */
const LINE_ENDS = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/;
/** What has no place in a name: it could close the bracket, or the line. */
const NOT_IN_NAMES = /[^\p{L}\p{N}._/@*-]/gu;
/** Room for `[N more: call check_messages]`, whatever N is. */
const REST_BYTES = 64;

export type UnreadMessage = Pick<Envelope, 'message_id' | 'from' | 'to' | 'content' | 'message_type'>;

export interface UnreadBlock {
  /** With a newline at its end; empty when there are no messages. */
  readonly text: string;
  /** The ids of those that are in it: to be acknowledged when the prompt was accepted, and not before. */
  readonly shown: readonly string[];
}

/** In the order they are given, as many as there is room for; how many are left is said. */
export function unreadBlock(messages: readonly UnreadMessage[]): UnreadBlock {
  if (messages.length === 0) return { text: '', shown: [] };
  const shown: UnreadMessage[] = [];
  let body = '';
  let roomBytes = MAX_UNREAD_BYTES - Buffer.byteLength(`${BEGIN_MESSAGES}\n${END_MESSAGES}\n`) - REST_BYTES;
  for (const message of messages) {
    const text = toLines(message);
    roomBytes -= Buffer.byteLength(text);
    // Those behind it wait too: messages are read in their order.
    if (roomBytes < 0) break;
    body += text;
    shown.push(message);
  }
  const left = messages.length - shown.length;
  const rest = left === 0 ? '' : `[${left} more: call check_messages]\n`;
  return { text: `${BEGIN_MESSAGES}\n${body}${rest}${END_MESSAGES}\n`, shown: shown.map(({ message_id }) => message_id) };
}

function toLines({ from, to, content, message_type }: UnreadMessage): string {
  const whom = to === '*' || message_type === 'broadcast' ? 'all' : 'you';
  const [first = '', ...further] = content.split(LINE_ENDS);
  return `[${from.replace(NOT_IN_NAMES, '?')} -> ${whom}] ${first}\n${further.map((line) => `${INDENT}${line}\n`).join('')}`;
}
