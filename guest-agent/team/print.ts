/** What people read. Pure. What others wrote is indented and shown without control characters: it cannot look like anything else. */
import type { Envelope } from '#protocol/relay.ts';

const INDENT = '  ';
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what this is about
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029]/g;

export function messageText(message: Envelope): string {
  const { from, to, message_type, timestamp, message_id, request_id, reply_to, metadata = {}, content } = message;
  const facts = {
    id: message_id,
    ...(request_id !== undefined && { request: request_id }),
    ...(reply_to !== undefined && { 'reply-to': reply_to }),
    ...metadata,
  };
  const header = [`[${from} -> ${to === '*' ? 'all' : 'you'}]`, message_type, timestamp];
  return `${line([...header, ...Object.entries(facts).map(([name, value]) => `${name}=${value}`)].join(' '))}\n${indented(content)}`;
}

/** Rows as columns that are as wide as they need to be. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows.map((row) => row.map(line))];
  const widths = head.map((_, at) => Math.max(...lines.map((row) => (row[at] ?? '').length)));
  return lines
    .map(
      (row) =>
        `${row
          .map((cell, at) => cell.padEnd(widths[at] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}

/** In one line. */
export function line(text: string): string {
  return text.replace(/\r?\n/g, ' ').replace(CONTROL, escapeCharacter);
}

export function indented(text: string): string {
  const lines = text.split(/\r\n|[\n\r\u2028\u2029]/);
  return lines
    .map((each) => `${INDENT}${each.replace(CONTROL, escapeCharacter)}`.trimEnd())
    .map((each) => `${each}\n`)
    .join('');
}

function escapeCharacter(character: string): string {
  return `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
}
