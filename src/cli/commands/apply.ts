/** `agentiso apply`: makes the server have what files say. The whole set is checked first; a set with a mistake in it changes nothing. */

import { type Applied, type ApplyItem, type ApplyOptions, applyItem, planStep, toItems, tryItems } from '#client/write/apply-set.ts';
import { type ApplyStep, expectedObject, outcomeOf } from '#client/write/apply-step.ts';
import { isWaiting, setMistakes } from '#client/write/check-set.ts';
import { hasLastApplied, LAST_APPLIED } from '#client/write/last-applied.ts';
import { applyMergePatch } from '#client/write/merge-patch.ts';
import { inOrderOfWriting } from '#client/write/writing-order.ts';
import { isCode } from '#lib/errors.ts';
import { apiCommand, type Session } from '../api-command.ts';
import { EXIT, type OptionValues } from '../command.ts';
import { UsageError } from '../usage-error.ts';
import { APPLY_OPTIONS, applyOptionsOf } from '../write/apply-flags.ts';
import { explained, refusalText } from '../write/explain.ts';
import { DRY_RUN_OPTION, dryRunOf, FILENAME_OPTIONS, OUTPUT_OPTIONS, SELECTOR_OPTION, VALIDATE_OPTION } from '../write/flags.ts';
import { loadSet, tellProblems } from '../write/load-set.ts';
import { prune } from '../write/prune.ts';
import { type Results, resultsTo } from '../write/results.ts';

export const applyCommand = apiCommand({
  name: 'apply',
  summary: 'create or change resources to what files say',
  description:
    'Checks every document first and names file, line and column of what would be refused; only a set without mistakes is written. What the files do not mention stays as it is.',
  options: [
    ...FILENAME_OPTIONS,
    ...APPLY_OPTIONS,
    DRY_RUN_OPTION,
    VALIDATE_OPTION,
    { flags: '--prune', description: 'delete what was applied before and is not in the files any more; needs -l or --all' },
    SELECTOR_OPTION,
    { flags: '--all', description: 'with --prune: look at everything that was applied' },
    {
      flags: '--prune-allowlist <type>',
      description: 'with --prune: only group/version/Kind; may be given several times',
      isRepeatable: true,
    },
    ...OUTPUT_OPTIONS,
  ],
  async run(_args, options, session) {
    checkPrune(options);
    const dryRun = dryRunOf(options);
    const apply = applyOptionsOf(options, dryRun === 'server');
    if (apply.isServerSide && dryRun === 'client') {
      throw new UsageError('--dry-run=client doesn’t work with --server-side (did you mean --dry-run=server instead?)');
    }
    const { documents, problems } = await loadSet(session, options);
    if (tellProblems(problems, session, 'apply')) return EXIT.failure;
    if (documents.length === 0) {
      session.err('error: no objects passed to apply: the selector matches none of them\n');
      return EXIT.failure;
    }
    const { items, unknown } = await toItems(documents, session);
    if (tellProblems(unknown, session, 'apply')) return EXIT.failure;
    const isPartOfSet = items.length > 1 || isWaiting(items);
    const work = { items: inOrderOfWriting(items), apply: { ...apply, isPartOfSet }, options };
    if (tellProblems(await mistakesIn(session, { ...work, items }), session, 'apply')) return EXIT.failure;
    return applyAll(session, work);
  },
});

function checkPrune(options: OptionValues): void {
  const isPruning = options['prune'] === true;
  const hasSelector = options['selector'] !== undefined;
  if (isPruning && !hasSelector && options['all'] !== true) {
    throw new UsageError(
      'all resources selected for prune without explicitly passing --all. To prune all resources, pass the --all flag. If you did not mean to prune all resources, specify a label selector',
    );
  }
  if (hasSelector && options['all'] === true) throw new UsageError('cannot set --all and --selector at the same time');
}

/** What is wrong with any of them, before any of them is written. */
async function mistakesIn(session: Session, { items, apply, options }: Work): Promise<readonly string[]> {
  const documents = items.map(({ document }) => document);
  if (dryRunOf(options) === 'client') return explained(documents, [], { session, options });
  // One document is written whole or not at all, and the server looks at all that it names.
  if (!apply.isPartOfSet) return [];
  const { isAccepted, problems, tried } = await tryItems(session, items, apply);
  const mistakes = isAccepted ? [] : await explained(documents, problems, { session, options });
  return mistakes.length > 0 ? mistakes : setMistakes(session, tried);
}

interface Work {
  readonly items: readonly ApplyItem[];
  readonly apply: ApplyOptions;
  readonly options: OptionValues;
}

async function applyAll(session: Session, work: Work): Promise<number> {
  const { items, options } = work;
  const results = resultsTo({ out: session.out, options, dryRun: dryRunOf(options) });
  const applied: Applied[] = [];
  for (const item of items) {
    const done = session.signal.aborted ? undefined : await applyOne(session, item, work);
    if (done) {
      applied.push(done);
      results.add({ resource: item.target.resource, name: item.target.name, ...done });
    } else if (session.signal.aborted) return interrupted(session, applied.length, items.length);
  }
  const isComplete = applied.length === items.length;
  if (options['prune'] === true && isComplete) await pruneRest(session, work, { applied, results });
  await results.finish();
  return isComplete ? EXIT.ok : EXIT.failure;
}

async function pruneRest(session: Session, { apply, options }: Work, { applied, results }: { applied: Applied[]; results: Results }) {
  const labelSelector = options['selector'] as string | undefined;
  const allowed = options['pruneAllowlist'] as readonly string[] | undefined;
  const dryRun = dryRunOf(options);
  await prune(session, { applied, labelSelector, fieldManager: apply.fieldManager, dryRun, allowed }, results.add);
}

/** Nothing when the server refused; it has been told then. */
async function applyOne(session: Session, item: ApplyItem, { apply, options }: Work): Promise<Applied | undefined> {
  try {
    const done = dryRunOf(options) === 'client' ? await foresee(session, item, apply) : await applyItem(session, item, apply);
    warn(session, done.step, item);
    return done;
  } catch (error) {
    if (session.signal.aborted) return undefined;
    const isConflict = apply.isServerSide && isCode(error, 'Conflict');
    const { document } = item;
    session.err(isConflict ? conflictText(error as Error) : await refusalText(error, { document, verb: 'applying', session, options }));
    return undefined;
  }
}

async function foresee(session: Session, item: ApplyItem, apply: ApplyOptions): Promise<Applied> {
  const step = await planStep(session, item, apply);
  const object = expectedObject(step, applyMergePatch) as unknown as Applied['object'];
  return { item, step, object, outcome: outcomeOf(step) };
}

function warn({ err }: Session, step: ApplyStep, { target: { resource, name } }: ApplyItem): void {
  if (step.action !== 'patch') return;
  if (!hasLastApplied(step.live)) {
    err(
      `Warning: resource ${resource.plural}/${name} is missing the ${LAST_APPLIED} annotation which is required by agentiso apply. ` +
        'agentiso apply should only be used on resources created declaratively by either agentiso create --save-config or agentiso apply. ' +
        'The missing annotation will be patched automatically.\n',
    );
  }
  if (step.live.metadata['deletionTimestamp'] !== undefined) {
    err(`Warning: Detected changes to resource ${name} which is currently being deleted.\n`);
  }
}

function interrupted({ err }: Session, done: number, all: number): number {
  err(`interrupted: ${done} of ${all} applied, ${all - done} left as they were\n`);
  return EXIT.interrupted;
}

function conflictText({ message }: Error): string {
  return `error: ${message}
Please review the fields above--they currently have other managers. Here
are the ways you can resolve this warning:
* If you intend to manage all of these fields, please re-run the apply
  command with the \`--force-conflicts\` flag.
* If you do not intend to manage all of the fields, please edit your
  manifest to remove references to the fields that should keep their
  current managers.
* You may co-own fields by updating your manifest to match the existing
  value; in this case, you'll become the manager if the other manager(s)
  stop managing the field (remove it from their configuration).
See https://kubernetes.io/docs/reference/using-api/server-side-apply/#conflicts
`;
}
