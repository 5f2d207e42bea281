/** The log of messages as a table that goes on: rows that come later stay in line with the first ones. */
import type { FiledMessage } from '#client/messages.ts';
import { cut } from '../live/width.ts';
import { alignLines, TABLE_STYLE } from '../print/align.ts';
import { firstLine, recipientOf, timeText } from './words.ts';

export interface TableOptions {
  readonly isWide: boolean;
  readonly withTeam: boolean;
  readonly withHeaders: boolean;
  /** Of the terminal; lines are cut there. Absent: nothing is cut. */
  readonly columns?: number | undefined;
}

export function messageTable({
  isWide,
  withTeam,
  withHeaders,
  columns,
}: TableOptions): (items: readonly FiledMessage[], now: Date) => string {
  const style = { ...TABLE_STYLE, remembered: [] as number[] };
  const header = ['TIME', ...(withTeam ? ['TEAM'] : []), 'FROM', 'TO', 'TYPE', 'STATE', ...(isWide ? ['ID', 'REPLY-TO'] : []), 'MESSAGE'];
  let isFirst = withHeaders;
  return (items, now) => {
    const rows = items.map((item) => row(item, { isWide, withTeam, now }));
    const lines = isFirst ? [header, ...rows] : rows;
    isFirst = false;
    const text = alignLines(lines, style);
    if (columns === undefined || isWide) return text;
    return text
      .split('\n')
      .map((line) => cut(line, columns))
      .join('\n');
  };
}

function row(filed: FiledMessage, { isWide, withTeam, now }: { isWide: boolean; withTeam: boolean; now: Date }): string[] {
  const { message, state } = filed;
  return [
    isWide ? message.timestamp : timeText(message.timestamp, now),
    ...(withTeam ? [message.team] : []),
    message.from,
    recipientOf(filed),
    message.message_type,
    state,
    ...(isWide ? [message.message_id, message.reply_to ?? ''] : []),
    firstLine(message.content),
  ];
}
