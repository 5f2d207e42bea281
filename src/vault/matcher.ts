/** Which lines of some texts fit. Plain text is compared here; a regular expression may take for ever, so it runs elsewhere. */

/** One line of one of the texts, both counted from 0. */
export interface Match {
  readonly text: number;
  readonly line: number;
}

export interface Matcher {
  /** At most `max` matches, in order. */
  match(texts: readonly string[], max: number): Promise<readonly Match[]>;
  close(): Promise<void>;
}

export const LINE_END = /\r\n|\n|\r/;

/** Upper and lower case are the same. */
export function plainMatcher(pattern: string): Matcher {
  const wanted = pattern.toLowerCase();
  return {
    async match(texts, max) {
      const found: Match[] = [];
      for (const [text, content] of texts.entries()) {
        if (found.length >= max) break;
        if (content.toLowerCase().includes(wanted)) found.push(...linesWith(content, wanted).map((line) => ({ text, line })));
      }
      return found.slice(0, max);
    },
    async close() {},
  };
}

function linesWith(content: string, wanted: string): number[] {
  return content.split(LINE_END).flatMap((words, line) => (words.toLowerCase().includes(wanted) ? [line] : []));
}

/** Every text fits, at its first line. */
export const everyText: Matcher = {
  match: async (texts, max) => texts.slice(0, max).map((_content, text) => ({ text, line: 0 })),
  async close() {},
};
