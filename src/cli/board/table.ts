/** The board as rows of a table, for pipes. Rows of one printer stay in line with each other. */

import { ageOfCard, attemptOfCard, type Card } from '#client/board-cards.ts';
import { alignLines, type Line, TABLE_STYLE } from '../print/align.ts';

export interface TableOptions {
  readonly withTeam: boolean;
  readonly withHeaders: boolean;
}

export function boardTable({ withTeam, withHeaders }: TableOptions): (cards: readonly Card[], now: Date) => string {
  const remembered: number[] = [];
  let isFirst = true;
  return (cards, now) => {
    const rows = cards.map((card) => cellsOf(card, withTeam, now));
    const lines = isFirst && withHeaders ? [headersOf(withTeam), ...rows] : rows;
    isFirst = false;
    return alignLines(lines, { ...TABLE_STYLE, remembered });
  };
}

function headersOf(withTeam: boolean): Line {
  return [...(withTeam ? ['TEAM'] : []), 'COLUMN', 'TASK', 'OWNER', 'ATTEMPT', 'AGE', 'REASON'];
}

function cellsOf(card: Card, withTeam: boolean, now: Date): Line {
  return [...(withTeam ? [card.team] : []), card.column, card.task, card.owner, attemptOfCard(card), ageOfCard(card, now), card.reason];
}
