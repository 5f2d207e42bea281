/** What the YAML reader complains about, in words for people who never read its grammar. Pure. */

const WORDS: readonly (readonly [said: RegExp, words: string])[] = [
  [/^Missing closing (['"])quote/, 'a text that begins with $1 does not end; add the closing $1'],
  [/^Nested mappings are not allowed in compact mappings.*/s, 'a second ": " in one line; put the text in quotes'],
  [/^Implicit map keys need to be followed by map values.*/s, 'expected "key: value"; there is no ":" after the key'],
  [/^Implicit keys need to be on a single line.*/s, 'expected "key: value" on one line; there is no ":" after the key'],
  [
    /^All (?:mapping|sequence|collection) items must start at the same column.*/s,
    'indented unlike the lines before it; align it with them',
  ],
  [/^Plain value cannot start with (.*)$/s, 'a value cannot begin with $1; put it in quotes'],
  [/^Unresolved alias[^:]*: (.*)$/s, 'there is no anchor &$1 before *$1'],
];

export function plainWords(message: string): string {
  const [said, words] = WORDS.find(([pattern]) => pattern.test(message)) ?? [];
  return said && words ? message.replace(said, words) : message;
}
