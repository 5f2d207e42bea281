/** `label` and `annotate` are one command in two words: read the objects, refuse what would be overwritten, patch the rest. */

import { FIELD_MANAGERS } from '#client/write/field-managers.ts';
import { applyMergePatch } from '#client/write/merge-patch.ts';
import { patchObject } from '#client/write/requests.ts';
import { getTarget, type Target } from '#client/write/target.ts';
import { AgentisoError } from '#lib/errors.ts';
import { apiCommand, type Session } from '../api-command.ts';
import { type Command, EXIT, type OptionValues } from '../command.ts';
import { UsageError } from '../usage-error.ts';
import { complaint } from './complaint.ts';
import { DRY_RUN_OPTION, dryRunOf, fieldManagerOption, OUTPUT_OPTIONS } from './flags.ts';
import {
  type MetadataChange,
  type MetadataField,
  type MetadataPatch,
  metadataPatch,
  parseMetadataChange,
  refusedOverwrites,
} from './metadata-change.ts';
import { type Results, resultsTo } from './results.ts';
import { findTargets, TARGETS_OPTIONS } from './targets.ts';

interface Words {
  readonly name: 'label' | 'annotate';
  readonly field: MetadataField;
  readonly singular: string;
  readonly done: string;
}

export const LABEL: Words = { name: 'label', field: 'labels', singular: 'label', done: 'labeled' };
export const ANNOTATE: Words = { name: 'annotate', field: 'annotations', singular: 'annotation', done: 'annotated' };

export function metadataCommand(words: Words): Command {
  return apiCommand({
    name: words.name,
    args: '[type-names-and-changes...]',
    summary: `set or remove ${words.field} of resources`,
    description: `key=value sets, key- removes: agentiso ${words.name} team x stage=test old-`,
    options: [
      { flags: '--overwrite', description: 'values that are there may be replaced' },
      { flags: '--list', description: `print the ${words.field} after the change` },
      { flags: '--resource-version <version>', description: 'refuse when the object has another version by now' },
      ...TARGETS_OPTIONS,
      DRY_RUN_OPTION,
      fieldManagerOption(FIELD_MANAGERS[words.name]),
      ...OUTPUT_OPTIONS,
    ],
    run: (args, options, session) => run(words, { args, options, session }),
  });
}

interface Call {
  readonly args: readonly string[];
  readonly options: OptionValues;
  readonly session: Session;
}

async function run(words: Words, { args, options, session }: Call): Promise<number> {
  const { targets: names, change } = parseMetadataChange(args, words.field);
  const isEmpty = change.remove.length === 0 && Object.keys(change.set).length === 0;
  if (isEmpty && options['list'] !== true) throw new UsageError(`at least one ${words.singular} update is required`);
  const { targets } = await findTargets(session, names, options);
  if (options['resourceVersion'] !== undefined && targets.length > 1) {
    throw new UsageError('--resource-version may only be used with a single resource');
  }
  const results = resultsTo({ out: session.out, options, dryRun: dryRunOf(options) });
  let isFailed = false;
  for (const target of targets) {
    if (session.signal.aborted) return EXIT.interrupted;
    try {
      await changeOne(words, { session, target, change, options, results, isOnly: targets.length === 1 });
    } catch (error) {
      isFailed = true;
      session.err(complaint(error));
    }
  }
  await results.finish();
  return isFailed ? EXIT.failure : EXIT.ok;
}

interface ChangeWork {
  readonly session: Session;
  readonly target: Target;
  readonly change: MetadataChange;
  readonly options: OptionValues;
  readonly results: Results;
  readonly isOnly: boolean;
}

async function changeOne(words: Words, { session, target, change, options, results, isOnly }: ChangeWork): Promise<void> {
  const live = await getTarget(session.connection, target);
  const current = live.metadata[words.field] ?? {};
  const refused = options['overwrite'] === true ? [] : refusedOverwrites(current, change);
  if (refused.length > 0) throw refusal(words, refused);
  const missing = change.remove.filter((key) => words.field === 'labels' && !Object.hasOwn(current, key));
  for (const key of missing) session.out(`${words.singular} "${key}" not found.\n`);
  const patch = metadataPatch(current, change, options['resourceVersion'] as string | undefined);
  const dryRun = dryRunOf(options);
  const fieldManager = String(options['fieldManager']);
  const isSent = patch !== undefined && dryRun !== 'client';
  const object = isSent
    ? await patchObject(session, target, { type: 'merge', body: patch, fieldManager, isDryRun: dryRun === 'server' })
    : applyMergePatch(live, patch ?? {});
  if (options['list'] === true) {
    return list(session, target, { values: (object as typeof live).metadata[words.field] ?? {}, isOnly, field: words.field });
  }
  results.add({
    resource: target.resource,
    name: target.name,
    object: object as typeof live,
    outcome: outcomeOf(words, patch),
  });
}

function refusal({ field }: Words, refused: readonly string[]): AgentisoError {
  if (field === 'labels') return new AgentisoError('Invalid', refused.join('\n'));
  const values = refused.map((line) => line.replace(/, and --overwrite is false$/, ''));
  return new AgentisoError('Invalid', `--overwrite is false but found the following declared annotation(s): ${values.join('; ')}`);
}

/** kubectl tells apart what happened to labels, and says of annotations always the same. */
function outcomeOf({ field, done }: Words, patch: MetadataPatch | undefined): string {
  if (field === 'annotations') return done;
  if (patch === undefined) return `not ${done}`;
  const values = Object.values(patch.metadata[field] ?? {});
  if (!values.includes(null)) return done;
  return values.every((value) => value === null) ? `un${done}` : 'modified';
}

/** One object is a plain list; several are told apart. */
function list({ out }: Session, { resource, name }: Target, { values, isOnly, field }: Listed): void {
  const group = resource.group === '' ? '' : `.${resource.group}`;
  if (!isOnly) out(`Listing ${field} for ${resource.kind}${group}/${name}:\n`);
  for (const key of Object.keys(values).sort()) out(`${isOnly ? '' : ' '}${key}=${values[key]}\n`);
}

interface Listed {
  readonly values: Readonly<Record<string, string>>;
  readonly isOnly: boolean;
  readonly field: MetadataField;
}
