/** `agentiso patch`: changes fields of objects by a patch. */
import type { ApiObject } from '#client/resource-api.ts';
import { withoutRecords } from '#client/write/apply-step.ts';
import { FIELD_MANAGERS } from '#client/write/field-managers.ts';
import { applyMergePatch } from '#client/write/merge-patch.ts';
import { type PatchType, patchObject } from '#client/write/requests.ts';
import { getTarget, type Target } from '#client/write/target.ts';
import { AgentisoError, messageOf } from '#lib/errors.ts';
import { equalJson } from '#lib/json.ts';
import { apiCommand, type Session, text } from '../api-command.ts';
import { EXIT, type OptionValues } from '../command.ts';
import { UsageError } from '../usage-error.ts';
import { complaint } from '../write/complaint.ts';
import { DRY_RUN_OPTION, dryRunOf, FILENAME_OPTIONS, fieldManagerOption, OUTPUT_OPTIONS } from '../write/flags.ts';
import { readSource } from '../write/read-source.ts';
import { resultsTo } from '../write/results.ts';
import { findTargets } from '../write/targets.ts';

export const patchCommand = apiCommand({
  name: 'patch',
  args: '[type-and-names...]',
  summary: 'change fields of resources by a patch',
  description: 'agentiso patch team x -p \'{"spec":{"suspend":true}}\'; with --type=json a list of operations.',
  options: [
    { flags: '-p, --patch <patch>', description: 'the patch, JSON or YAML' },
    { flags: '--patch-file <file>', description: 'a file with the patch, - for standard input' },
    {
      flags: '--type <type>',
      description:
        'merge: the changed fields; json: a list of operations; strategic: as merge, with lists by key, for the built-in kinds of a cluster',
      choices: ['json', 'merge', 'strategic'],
      default: 'merge',
    },
    { flags: '--subresource <name>', description: 'patch this part of the resource', choices: ['status', 'scale'] },
    ...FILENAME_OPTIONS,
    DRY_RUN_OPTION,
    fieldManagerOption(FIELD_MANAGERS.patch),
    ...OUTPUT_OPTIONS,
  ],
  async run(args, options, session) {
    const body = await patchBody(options, session.signal);
    if (options['type'] === 'json' && dryRunOf(options) === 'client') {
      throw new UsageError('--dry-run=client does not work with --type=json; use --dry-run=server');
    }
    const { targets } = await findTargets(session, args, options);
    const results = resultsTo({ out: session.out, options, dryRun: dryRunOf(options) });
    let code: number = EXIT.ok;
    for (const target of targets) {
      try {
        const { object, isChanged } = await patchOne(session, { target, body, options });
        results.add({ resource: target.resource, name: target.name, object, outcome: isChanged ? 'patched' : 'patched (no change)' });
      } catch (error) {
        code = EXIT.failure;
        session.err(complaint(error));
      }
    }
    await results.finish();
    return code;
  },
});

async function patchBody(options: OptionValues, signal: AbortSignal): Promise<unknown> {
  const given = text(options['patch']);
  const file = text(options['patchFile']);
  if (given !== undefined && file !== undefined) throw new UsageError('cannot specify --patch and --patch-file together');
  if (given === undefined && file === undefined)
    throw new UsageError('must specify --patch or --patch-file containing the contents of the patch');
  const source = given ?? (await readPatch(file as string, signal));
  const { parseYaml } = await import('../write/parse-yaml.ts');
  try {
    const body: unknown = parseYaml(source);
    if (typeof body !== 'object' || body === null)
      throw new AgentisoError('Invalid', 'expected a map of fields, or with --type=json a list of operations');
    return body;
  } catch (error) {
    throw new AgentisoError('Invalid', `unable to parse ${JSON.stringify(source)}: ${messageOf(error).split('\n')[0]}`, { cause: error });
  }
}

async function readPatch(file: string, signal: AbortSignal): Promise<string> {
  try {
    return String(await readSource(file, signal));
  } catch (error) {
    if (error instanceof AgentisoError) throw error;
    throw new AgentisoError('IoError', `unable to read patch file: ${messageOf(error)}`, { cause: error });
  }
}

interface PatchWork {
  readonly target: Target;
  readonly body: unknown;
  readonly options: OptionValues;
}

async function patchOne(session: Session, { target, body, options }: PatchWork): Promise<{ object: ApiObject; isChanged: boolean }> {
  const live = await getTarget(session.connection, target);
  const dryRun = dryRunOf(options);
  const subresource = text(options['subresource']);
  const object =
    dryRun === 'client'
      ? (applyMergePatch(live, body) as ApiObject)
      : await patchObject(session, target, {
          type: options['type'] as PatchType,
          body,
          fieldManager: String(options['fieldManager']),
          isDryRun: dryRun === 'server',
          ...(subresource ? { subresource } : {}),
        });
  return { object, isChanged: object.kind !== live.kind || !equalJson(withoutRecords(live), withoutRecords(object)) };
}
