/** Whether a document that has not been sent yet has the labels of a selector. For what is stored, the server decides. */
import { parseLabelSelector } from '#api/label-selector.ts';
import { matchesLabels } from '#api/selector.ts';
import { messageOf } from '#lib/errors.ts';
import { UsageError } from '../usage-error.ts';

type Labels = Readonly<Record<string, unknown>>;

export function labelMatcher(selector: string): (labels: Labels) => boolean {
  const requirements = parsed(selector);
  return (labels) => matchesLabels(requirements, { metadata: { labels: textsOf(labels) } });
}

function parsed(selector: string) {
  try {
    return parseLabelSelector(selector);
  } catch (error) {
    throw new UsageError(messageOf(error), { cause: error });
  }
}

/** The server will refuse what is no text; until then it is what it looks like. */
function textsOf(labels: Labels): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).map(([key, value]) => [key, String(value)]));
}
