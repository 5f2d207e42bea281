/** Text of others on a terminal: what would move the cursor or change colours is shown instead of done. */

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this looks for.
const CONTROL = /[\x00-\x08\x0b-\x1f\x7f]/g;

export function escapeControl(text: string): string {
  return text.replace(CONTROL, (character) => (character === '\r' ? '\\r' : `^${String.fromCharCode(character.charCodeAt(0) ^ 0x40)}`));
}

/** A cell is one line: what comes after its end is left out, and said so. */
export function toCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const end = text.search(/[\f\n\r]/);
  return escapeControl(end < 0 ? text : `${text.slice(0, end)}...`).replaceAll('\t', ' ');
}
