/** A JSONPath of the command line: a mistake in it is one of the command line. */
import { JsonPathError, type JsonPathTemplate } from '#lib/jsonpath.ts';
import { UsageError } from '../usage-error.ts';

export function parseGiven(parse: (text: string) => JsonPathTemplate, text: string): JsonPathTemplate {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof JsonPathError)) throw error;
    throw new UsageError(error.message, { cause: error });
  }
}
