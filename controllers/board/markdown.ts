/** Text of others inside our Markdown: whatever it says, the document stays the one we wrote. Pure. */

/** Everything that some reader of text takes for the end of a line. */
const LINE_END = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/;
/** What no text needs: it would be shown as nothing, or move a terminal's cursor. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNPRINTABLE = /[\u0000-\u0008\u000e-\u001f\u007f]/g;

function linesOf(text: string): string[] {
  return text.replace(UNPRINTABLE, '\ufffd').split(LINE_END);
}

/** On one line, as part of a heading or of a list. */
export function inline(text: string): string {
  return linesOf(text).join(' ').trim();
}

/**
 * As a quotation. What begins inside one ends with it: headings, fences, comments and lists of the text cannot reach what comes after, and no
 * line of it begins like one of ours.
 */
export function quoted(text: string): string {
  const lines = linesOf(text.trimEnd());
  return `${lines.map((line) => `> ${line}`.trimEnd()).join('\n')}\n`;
}

/** As it is, between fences that are longer than any in it. */
export function fenced(text: string): string {
  const lines = linesOf(text.trimEnd());
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}text\n${lines.join('\n')}\n${fence}\n`;
}
