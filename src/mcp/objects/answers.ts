/** Parts of answers that several tools give. */
import { count, flag, list, object, oneOf, text } from '#protocol/shape.ts';

export const objectSummary = object(
  { kind: text, name: text, version: text },
  { namespace: text, team: text, phase: text, conditions: list(text), deleting: flag },
);

/** Work that was not merged when its agent went, and is kept in the team's repository. */
export const keptWork = object({ agent: text, ref: text }, { id: text, commits: count, files: count });

export const appliedObject = object({ kind: text, name: text, action: oneOf('created', 'configured', 'unchanged') }, { namespace: text });
