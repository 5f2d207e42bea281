/** Colours for the words that say how something is. Only where the caller has a terminal that wants them. */

const GREEN = ['active', 'allowed', 'available', 'bound', 'complete', 'completed', 'merged', 'ready', 'running', 'succeeded', 'true'];
const RED = ['crashloopbackoff', 'error', 'failed', 'invalid', 'lost', 'stalled'];
const YELLOW = ['blocked', 'claimed', 'conflict', 'degraded', 'pending', 'starting', 'stopping', 'terminating', 'unknown', 'warning'];
/** A word in another column is a name, and names mean nothing. */
const TELLING = ['status', 'phase', 'ready', 'type', 'condition'];

const CODES = { bold: 1, red: 31, green: 32, yellow: 33 } as const;

export type Colour = keyof typeof CODES;

export function coloured(text: string, colour: Colour): string {
  return `\u001b[${CODES[colour]}m${text}\u001b[0m`;
}

export function paintCell(cell: string, columnName: string): string {
  if (cell === '' || !TELLING.includes(columnName.toLowerCase())) return cell;
  const word = cell.toLowerCase();
  if (GREEN.includes(word)) return coloured(cell, 'green');
  if (RED.includes(word)) return coloured(cell, 'red');
  return YELLOW.includes(word) ? coloured(cell, 'yellow') : cell;
}
