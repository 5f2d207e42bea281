/** One line of the agent's log, as it is stored and as it is shown. Pure. */

/** Longer lines are kept as several. */
export const MAX_LINE_CHARS = 16_384;

export interface LogLine {
  readonly time: string;
  /** `guest` or `task/<name>`. */
  readonly source: string;
  readonly text: string;
}

export interface LogFilter {
  /** Lines of this source, or of those below it: `task` means every task. */
  readonly source?: string | undefined;
  /** Lines from this time on, RFC 3339 in UTC with milliseconds, so that times compare as text. */
  readonly since?: string | undefined;
}

/** Without the end of the line. */
export function toStoredLine({ time, source, text }: LogLine): string {
  return `${time} ${source} ${text}`;
}

/** undefined: not a line of this log. */
export function parseStoredLine(line: string): LogLine | undefined {
  const timeEnd = line.indexOf(' ');
  const sourceEnd = line.indexOf(' ', timeEnd + 1);
  if (timeEnd === -1 || sourceEnd === -1) return undefined;
  return { time: line.slice(0, timeEnd), source: line.slice(timeEnd + 1, sourceEnd), text: line.slice(sourceEnd + 1) };
}

export function toShownLine({ time, source, text }: LogLine, { timestamps }: { readonly timestamps: boolean }): string {
  return timestamps ? `${time} [${source}] ${text}\n` : `[${source}] ${text}\n`;
}

export function isWanted(line: LogLine, { source, since }: LogFilter): boolean {
  if (since !== undefined && line.time < since) return false;
  return source === undefined || line.source === source || line.source.startsWith(`${source}/`);
}

/** A source is one word: the stored form has it between two spaces. */
export function toSourceWord(source: string): string {
  return source.replace(/\s+/g, '-');
}

/** Whole lines, none longer than MAX_LINE_CHARS, and what is left behind the last end of line. */
export function splitLines(text: string): { readonly lines: readonly string[]; readonly rest: string } {
  const parts = text.split('\n');
  const rest = parts.pop() ?? '';
  const lines = parts.flatMap((line) => cutLine(line.endsWith('\r') ? line.slice(0, -1) : line));
  if (rest.length <= MAX_LINE_CHARS) return { lines, rest };
  const cut = cutLine(rest);
  return { lines: [...lines, ...cut.slice(0, -1)], rest: cut.at(-1) ?? '' };
}

function cutLine(line: string): readonly string[] {
  if (line.length <= MAX_LINE_CHARS) return [line];
  const pieces: string[] = [];
  for (let start = 0; start < line.length; ) {
    const end = start + MAX_LINE_CHARS;
    const isSplitPair = /[\ud800-\udbff]/.test(line.charAt(end - 1)) && end < line.length;
    pieces.push(line.slice(start, isSplitPair ? end - 1 : end));
    start = isSplitPair ? end - 1 : end;
  }
  return pieces;
}
