/** Which names a field manager may have. */

const MAX_BYTES = 128;
const PLAIN = /^[\x20-\x7e]{1,128}$/;

/** What is wrong with the name, as a message for `fieldManager`; undefined if nothing. */
export function managerNameProblem(name: string): string | undefined {
  if (PLAIN.test(name)) return undefined;
  if (name === '') return 'Required value: must be 1 to 128 printable characters';
  if (Buffer.byteLength(name) > MAX_BYTES) return `Too long: may not be more than ${MAX_BYTES} bytes`;
  let position = 0;
  for (const character of name) {
    if (!isPrintable(character)) {
      return `Invalid value: ${JSON.stringify(name)}: invalid character ${codePointName(character)} (at position ${position})`;
    }
    position += Buffer.byteLength(character);
  }
  return undefined;
}

/** Letters, marks, numbers, punctuation, symbols and the plain space. */
function isPrintable(character: string): boolean {
  return character === ' ' || /^[\p{L}\p{M}\p{N}\p{P}\p{S}]$/u.test(character);
}

function codePointName(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
