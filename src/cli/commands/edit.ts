/** `agentiso edit`: objects in an editor; what is saved is sent as a patch of what was changed. */
import { apiVersionOf } from '#client/discovery.ts';
import type { ApiObject } from '#client/resource-api.ts';
import { StatusError } from '#client/status-error.ts';
import { refusals } from '#client/write/apply-set.ts';
import { metadataOf } from '#client/write/check-documents.ts';
import { FIELD_MANAGERS } from '#client/write/field-managers.ts';
import { mergePatchBetween } from '#client/write/merge-patch.ts';
import { patchObject } from '#client/write/requests.ts';
import type { SourceDocument } from '#client/write/source-document.ts';
import { getTarget, type Target } from '#client/write/target.ts';
import { AgentisoError, messageOf } from '#lib/errors.ts';
import { isObject, type JsonObject } from '#lib/json.ts';
import { apiCommand, type Session } from '../api-command.ts';
import { EXIT, type OptionValues } from '../command.ts';
import { complaint } from '../write/complaint.ts';
import { editText, parseEdited, reopened, stripComments } from '../write/edit-text.ts';
import { type EditedFile, editedFile } from '../write/editor.ts';
import { explained } from '../write/explain.ts';
import { FILENAME_OPTIONS, fieldManagerOption, fieldValidationOf, OUTPUT_OPTIONS, VALIDATE_OPTION } from '../write/flags.ts';
import { type Results, resultsTo } from '../write/results.ts';
import { findTargets } from '../write/targets.ts';

export const editCommand = apiCommand({
  name: 'edit',
  args: '[type-and-names...]',
  summary: 'edit resources in an editor',
  description: 'Opens $KUBE_EDITOR, $VISUAL, $EDITOR or vi. What the server refuses is opened again with the reason above it.',
  options: [...FILENAME_OPTIONS, VALIDATE_OPTION, fieldManagerOption(FIELD_MANAGERS.edit), ...OUTPUT_OPTIONS],
  async run(args, options, session) {
    const editor = session.environment?.editor ?? (session.environment?.isTerminal ? 'vi' : undefined);
    if (!editor) throw new AgentisoError('Invalid', 'edit needs a terminal', { hint: 'or name an editor that needs none in $KUBE_EDITOR' });
    const { targets } = await findTargets(session, args, options);
    const edited: Edited[] = [];
    for (const target of targets) edited.push({ target, live: await getTarget(session.connection, target) });
    const results = resultsTo({ out: session.out, options, dryRun: 'none' });
    const file = editedFile(editor, `agentiso-edit-${targets[0]?.name}`);
    const latest = new Map(edited.map((each) => [each, each.live]));
    const code = await editUntilDone(session, { edited, latest, file, options, results });
    await results.finish();
    return code;
  },
});

interface Edited {
  readonly target: Target;
  readonly live: ApiObject;
}

interface Work {
  readonly edited: readonly Edited[];
  /** What was taken in an earlier round is not sent again in the next. */
  readonly latest: Map<Edited, ApiObject>;
  readonly file: EditedFile;
  readonly options: OptionValues;
  readonly results: Results;
}

async function editUntilDone(session: Session, work: Work): Promise<number> {
  const { edited, file } = work;
  const original = editText(edited.map(({ live }) => live));
  let text = original;
  let problems: readonly string[] = [];
  for (;;) {
    const saved = await file.edit(text);
    const isSame = stripComments(saved) === stripComments(text);
    if (isSame || stripComments(saved) === '' || session.signal.aborted) return cancelled(session, { file, saved, problems });
    problems = await submit(session, saved, work);
    if (problems.length === 0) {
      file.discard();
      return EXIT.ok;
    }
    ({ text, problems } = reopened(saved, problems));
  }
}

interface Cancelled {
  readonly file: EditedFile;
  readonly saved: string;
  /** Why what was saved before was refused. */
  readonly problems: readonly string[];
}

/** Closed without a change. After a refusal the person's text is still there to be found. */
function cancelled({ err }: Session, { file, saved, problems }: Cancelled): number {
  const isEmpty = stripComments(saved) === '';
  if (problems.length > 0 && !isEmpty) {
    for (const problem of problems) err(/^(?:error|Error from server|The )/.test(problem) ? `${problem}\n` : `error: ${problem}\n`);
    err(`A copy of your changes has been stored to ${JSON.stringify(file.path)}\nerror: Edit cancelled, no valid changes were saved.\n`);
    return EXIT.failure;
  }
  file.discard();
  err(isEmpty ? 'Edit cancelled, saved file was empty.\n' : 'Edit cancelled, no changes made.\n');
  return EXIT.ok;
}

/** What the server, or we, refused; nothing when all of it was taken. */
async function submit(session: Session, saved: string, work: Work): Promise<string[]> {
  const { documents, problems } = await parseEdited(saved);
  if (problems.length > 0) return [...problems];
  const refused: string[] = [];
  for (const document of documents) {
    const known = work.edited.find((each) => isSameObject(each, document.object));
    if (known) refused.push(...(await submitOne(session, { known, document, ...work })));
    else refused.push('At least one of apiVersion, kind and name was changed');
  }
  return refused;
}

function isSameObject({ target, live }: Edited, object: JsonObject): boolean {
  const { name, namespace } = metadataOf(object);
  const isKind = object['apiVersion'] === (live.apiVersion ?? apiVersionOf(target.resource)) && object['kind'] === target.resource.kind;
  return isKind && name === target.name && (target.namespace ?? undefined) === (namespace ?? target.namespace);
}

interface Submission extends Work {
  readonly known: Edited;
  readonly document: SourceDocument;
}

async function submitOne(session: Session, { known, document, latest, options, results }: Submission): Promise<string[]> {
  const { target, live } = known;
  const current = latest.get(known) ?? live;
  const patch = mergePatchBetween(editable(current), editable(document.object));
  if (Object.keys(patch).length === 0) {
    if (current === live) results.add({ resource: target.resource, name: target.name, outcome: 'skipped', object: live });
    return [];
  }
  try {
    const fieldManager = String(options['fieldManager']);
    const stored = await patchObject(session, target, {
      type: 'merge',
      body: patch,
      fieldManager,
      fieldValidation: fieldValidationOf(options),
    });
    latest.set(known, stored);
    results.add({ resource: target.resource, name: target.name, outcome: 'edited', object: stored });
    return [];
  } catch (error) {
    return reasons(error, { document, session, options });
  }
}

/** Without what is not the person's to change; a version that moved meanwhile is no conflict, because only changed fields are sent. */
function editable({ status: _, ...object }: JsonObject): JsonObject {
  const { managedFields: __, resourceVersion: ___, generation: ____, ...metadata } = isObject(object['metadata']) ? object['metadata'] : {};
  return { ...object, metadata };
}

interface Refused {
  readonly document: SourceDocument;
  readonly session: Session;
  readonly options: OptionValues;
}

/** With the lines of the edited text where they can be known. Nobody answering is a reason like any other here: the text must not be lost. */
async function reasons(error: unknown, { document, session, options }: Refused): Promise<string[]> {
  try {
    const isMistake = error instanceof StatusError && refusals(error, { document }).length > 0;
    const found = isMistake ? await explained([document], [], { session, options }) : [];
    return found.length > 0 ? [...found] : [complaint(error).trimEnd()];
  } catch {
    return [`error: ${messageOf(error)}`];
  }
}
