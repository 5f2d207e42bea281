/** Tells when the list of resources is another one: something of a team came or went. Notes come and go without a word here. */
import type { Asking } from '../resource.ts';
import { together, watched } from './changes.ts';

const KINDS = ['Team', 'Agent', 'Task', 'Merge'];

export function resourceListChanges(asking: Asking): AsyncIterable<void> {
  return together(
    KINDS.map((kind) => watched(kind, {}, ({ type }) => type !== 'MODIFIED')),
    asking,
  );
}
