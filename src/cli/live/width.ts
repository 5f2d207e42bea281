/** How many columns of a terminal a text takes, and texts cut to fit. Rather too wide than too narrow: what fits must never wrap. */

const NONE = /^[\p{M}\u200b-\u200f\u2060\ufeff]$/u;
const DOUBLE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{16fe0}-\u{18aff}\u{1b000}-\u{1b2ff}\u{1f000}-\u{1ffff}\u{20000}-\u{3fffd}\p{Extended_Pictographic}]$/u;

export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += widthOfCharacter(character);
  return width;
}

/** The beginning of a text, with … where something is missing. */
export function cut(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let kept = '';
  let left = columns - 1;
  for (const character of text) {
    left -= widthOfCharacter(character);
    if (left < 0) break;
    kept += character;
  }
  return columns < 1 ? '' : `${kept}…`;
}

export function padded(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - widthOf(text)));
}

function widthOfCharacter(character: string): number {
  if (character.length === 1 && character >= ' ' && character <= '~') return 1;
  if (NONE.test(character)) return 0;
  return DOUBLE.test(character) ? 2 : 1;
}
