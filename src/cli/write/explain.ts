/** A refusal in our own words where we have better ones: the schemas know the line of every mistake and what was probably meant. */
import { StatusError } from '#client/status-error.ts';
import { refusals } from '#client/write/apply-set.ts';
import { schemaProblems } from '#client/write/check-documents.ts';
import type { SourceDocument } from '#client/write/source-document.ts';
import type { Session } from '../api-command.ts';
import type { OptionValues } from '../command.ts';
import { complaint, inFile } from './complaint.ts';
import { fieldValidationOf } from './flags.ts';

/** Ours, or else the server's. */
export async function explained(
  documents: readonly SourceDocument[],
  problems: readonly string[],
  { session, options }: { session: Session; options: OptionValues },
): Promise<readonly string[]> {
  const found = fieldValidationOf(options) === 'Strict' ? await schemaProblems(documents, session.namespace) : [];
  return found.length > 0 ? found : problems;
}

export interface RefusedDocument {
  readonly document: SourceDocument;
  /** What was tried: `creating`. */
  readonly verb: string;
  readonly session: Session;
  readonly options: OptionValues;
}

/** Lines for standard error about one document that the server did not take. */
export async function refusalText(error: unknown, { document, verb, session, options }: RefusedDocument): Promise<string> {
  const places = error instanceof StatusError ? refusals(error, { document }) : [];
  if (places.length === 0) return complaint(inFile(error, verb, document.source));
  const lines = await explained([document], places, { session, options });
  return lines.map((line) => `${line}\n`).join('');
}
