/** The file that `edit` opens: objects as YAML under a comment that says what to do, and what was wrong last time. */
import type { Position } from '#api/manifest.ts';
import type { ApiObject } from '#client/resource-api.ts';
import { opened, type SourceDocument } from '#client/write/source-document.ts';
import { toYaml } from '#lib/to-yaml.ts';

const HEADER = `# Please edit the object below. Lines beginning with a '#' will be ignored,
# and an empty file will abort the edit. If an error occurs while saving this file will be
# reopened with the relevant failures.
#
`;

export function editText(objects: readonly ApiObject[]): string {
  const shown = objects.map(withoutManagedFields);
  const root = shown.length === 1 ? shown[0] : { apiVersion: 'v1', items: shown, kind: 'List', metadata: {} };
  return `${HEADER}${toYaml(root)}`;
}

export interface Reopened {
  readonly text: string;
  /** With the lines where things are now. */
  readonly problems: readonly string[];
}

/** What the person wrote, with the complaints above it instead of those from before. */
export function reopened(edited: string, problems: readonly string[]): Reopened {
  const body = withoutLeadingComment(edited);
  const lines = problems.flatMap((problem) => problem.trimEnd().split('\n'));
  const shift = lineCount(HEADER) + lines.length + 1 - (lineCount(edited) - lineCount(body));
  const moved = lines.map((line) => line.replace(/^line (\d+)/, (_, at) => `line ${Number(at) + shift}`));
  return { text: `${HEADER}${moved.map((line) => `# ${line}\n`).join('')}#\n${body}`, problems: moved };
}

function lineCount(text: string): number {
  return text.split('\n').length - 1;
}

function withoutLeadingComment(text: string): string {
  return text.replace(/^(?:#.*\n)+/, '');
}

/** Only what counts: two texts that differ in comments are the same edit. */
export function stripComments(text: string): string {
  return text
    .split('\n')
    .filter((line) => !line.trimStart().startsWith('#'))
    .join('\n')
    .trim();
}

export interface EditedObjects {
  readonly documents: readonly SourceDocument[];
  readonly problems: readonly string[];
}

export async function parseEdited(text: string): Promise<EditedObjects> {
  const { parseManifest } = await import('#api/manifest.ts');
  const { documents, problems } = parseManifest(text);
  const place = ({ line, column }: Position) => `line ${line}, column ${column}`;
  return {
    documents: documents.flatMap((document) => opened(document, '', place)),
    problems: problems.map((problem) => `${place(problem)}: ${problem.message}`),
  };
}

function withoutManagedFields({ metadata: { managedFields: _, ...metadata }, ...rest }: ApiObject): ApiObject {
  return { ...rest, metadata } as ApiObject;
}
