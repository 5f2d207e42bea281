/** What must not be read by anybody, taken out of text: values that are known to be secret, and what looks like one. */

const STAND_IN = '[redacted]';

/** Keys of providers by how they begin, tokens behind `Bearer`, and the name and password of a URL. */
const PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/\b(?:sk|pk|rk)-(?:[a-z]+-)?[A-Za-z0-9_-]{16,}/g, STAND_IN],
  [
    /\b(?:AIza[A-Za-z0-9_-]{30,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|xox[abprs]-[A-Za-z0-9-]{10,}|AKIA[A-Z0-9]{16})\b/g,
    STAND_IN,
  ],
  [/\b(Bearer\s+)[A-Za-z0-9._~+/=-]{8,}/gi, `$1${STAND_IN}`],
  [/\b([a-z][a-z0-9+.-]*:\/\/)[^\s/@:"']+:[^\s/@"']+@/gi, `$1${STAND_IN}@`],
];

/** Shorter ones would also be found where nothing is secret. */
const MIN_LENGTH = 6;

export class Redactor {
  #values: readonly string[] = [];

  /** From here on; those that were known before stay known: what they opened may still be open. */
  learn(values: readonly string[]): void {
    const known = new Set([...this.#values, ...values.filter(({ length }) => length >= MIN_LENGTH)]);
    // The longest first: one may be the beginning of another.
    this.#values = [...known].sort((a, b) => b.length - a.length);
  }

  redact(text: string): string {
    const known = this.#values.reduce((rest, value) => rest.replaceAll(value, STAND_IN), text);
    return PATTERNS.reduce((rest, [pattern, put]) => rest.replace(pattern, put), known);
  }
}
