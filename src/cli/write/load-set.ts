/** From `-f` to a set of documents that may be sent: read, checked, selected. Every mistake is told before anything is done. */

import { checkDocuments, metadataOf } from '#client/write/check-documents.ts';
import type { SourceDocument } from '#client/write/source-document.ts';
import { isObject } from '#lib/json.ts';
import type { Session } from '../api-command.ts';
import type { OptionValues } from '../command.ts';
import { NO_OBJECTS, readDocuments } from './documents.ts';
import { requireFilenames } from './flags.ts';
import { labelMatcher } from './label-match.ts';

export interface LoadedSet {
  readonly documents: readonly SourceDocument[];
  /** `file:line:column: what is wrong and what would be accepted` */
  readonly problems: readonly string[];
}

export async function loadSet(session: Session, options: OptionValues, allowsGenerateName = false): Promise<LoadedSet> {
  const read = await readDocuments({
    filenames: requireFilenames(options),
    isRecursive: options['recursive'] === true,
    signal: session.signal,
  });
  const isNamespaceEnforced = options['namespace'] !== undefined;
  const problems = await checkDocuments(read.documents, { namespace: session.namespace, isNamespaceEnforced, allowsGenerateName });
  const selector = options['selector'];
  const documents = typeof selector === 'string' ? read.documents.filter(selectedBy(selector)) : read.documents;
  return { documents, problems: [...read.problems, ...problems] };
}

function selectedBy(selector: string): (document: SourceDocument) => boolean {
  const matches = labelMatcher(selector);
  return ({ object }) => {
    const { labels } = metadataOf(object);
    return matches(isObject(labels) ? labels : {});
  };
}

/** True when there is something to tell. */
export function tellProblems(problems: readonly string[], { err }: Session, consequence: string): boolean {
  if (problems.length === 0) return false;
  for (const problem of problems) err(`${inKubectlsWords(problem, consequence)}\n`);
  return true;
}

function inKubectlsWords(problem: string, consequence: string): string {
  return problem.startsWith(NO_OBJECTS) ? `error: ${NO_OBJECTS} to ${consequence}${problem.slice(NO_OBJECTS.length)}` : problem;
}
