/** What is wrong with a set of documents, as lines that name the place: document by document, each from top to bottom. Pure. */
import { formatProblem } from '#api/invalid-object.ts';
import type { SetProblem } from '#api/set-check.ts';
import { fromTopToBottom } from './check-documents.ts';
import type { SourceDocument } from './source-document.ts';

/** `documents`: one for each member of the set. */
export function setLines(problems: readonly SetProblem[], documents: readonly SourceDocument[]): string[] {
  return problems
    .map((problem) => ({ index: problem.index, line: `${documents[problem.index]?.at(problem.segments)}: ${formatProblem(problem)}` }))
    .sort((a, b) => a.index - b.index || fromTopToBottom(a.line, b.line))
    .map(({ line }) => line);
}
