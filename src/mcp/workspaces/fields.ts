/** Parsers of what several tools of workspaces take. */
import { isName } from '#api/names.ts';
import { ProtocolError } from '#protocol/protocol-error.ts';
import { described, type Parser, parser } from '#protocol/shape.ts';

const NAME_PATTERN = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$';

export const nameText: Parser<string> = parser(
  (value, what) => {
    if (!isName(value)) {
      throw invalid(what, `${what} must be a name: at most 63 lower-case letters, digits and -, with a letter or digit at both ends`);
    }
    return value;
  },
  () => ({ type: 'string', pattern: NAME_PATTERN, maxLength: 63 }),
);

/** By its bytes in UTF-8; `instead` says what to do with more. */
export function boundedText({ min = 0, maxBytes, instead }: { min?: number; maxBytes: number; instead?: string }): Parser<string> {
  return parser(
    (value, what) => {
      if (typeof value !== 'string' || value.length < min)
        throw invalid(what, `${what} must be a string${min > 0 ? ' with something in it' : ''}`);
      const bytes = Buffer.byteLength(value);
      if (bytes <= maxBytes) return value;
      const details = { field: what, ...(instead !== undefined && { hint: instead }) };
      throw new ProtocolError('TooLarge', `${what} has ${bytes} bytes, at most ${maxBytes} are allowed`, undefined, details);
    },
    () => ({ type: 'string', ...(min > 0 && { minLength: min }), maxLength: maxBytes }),
  );
}

export const pathText: Parser<string> = boundedText({ min: 1, maxBytes: 4096 });

export const filePath = described(pathText, 'Path below the root of the workspace; /workspace/... means the same.');

export function invalid(field: string, message: string): ProtocolError {
  return new ProtocolError('Invalid', message, undefined, { field });
}
