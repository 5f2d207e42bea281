/** `agentiso replace`: puts what files say in the place of what is there, whole. */
import type { ApiObject } from '#client/resource-api.ts';
import { isNotFound } from '#client/status-error.ts';
import { type ApplyItem, toItems } from '#client/write/apply-set.ts';
import { metadataOf } from '#client/write/check-documents.ts';
import { FIELD_MANAGERS } from '#client/write/field-managers.ts';
import { followObject } from '#client/write/follow-object.ts';
import { withLastApplied } from '#client/write/last-applied.ts';
import { createObject, deleteObject, replaceObject } from '#client/write/requests.ts';
import { getTarget } from '#client/write/target.ts';
import { apiCommand, type Session } from '../api-command.ts';
import { EXIT, type OptionValues } from '../command.ts';
import { refusalText } from '../write/explain.ts';
import {
  DRY_RUN_OPTION,
  dryRunOf,
  FILENAME_OPTIONS,
  fieldManagerOption,
  fieldValidationOf,
  OUTPUT_OPTIONS,
  VALIDATE_OPTION,
} from '../write/flags.ts';
import { loadSet, tellProblems } from '../write/load-set.ts';
import { resultsTo } from '../write/results.ts';

export const replaceCommand = apiCommand({
  name: 'replace',
  summary: 'replace resources by what files say',
  options: [
    ...FILENAME_OPTIONS,
    { flags: '--force', description: 'delete and create anew' },
    DRY_RUN_OPTION,
    VALIDATE_OPTION,
    { flags: '--save-config', description: 'note the configuration for a later apply' },
    fieldManagerOption(FIELD_MANAGERS.replace),
    ...OUTPUT_OPTIONS,
  ],
  async run(_args, options, session) {
    const { documents, problems } = await loadSet(session, options);
    if (tellProblems(problems, session, 'replace')) return EXIT.failure;
    const { items, unknown } = await toItems(documents, session);
    if (tellProblems(unknown, session, 'replace')) return EXIT.failure;
    const results = resultsTo({ out: session.out, options, dryRun: dryRunOf(options) });
    let code: number = EXIT.ok;
    for (const item of items) {
      if (session.signal.aborted) return EXIT.interrupted;
      try {
        const object = await (options['force'] === true ? recreate : replaceOne)(session, item, options);
        results.add({ resource: item.target.resource, name: item.target.name, outcome: 'replaced', object });
      } catch (error) {
        code = EXIT.failure;
        session.err(await refusalText(error, { document: item.document, verb: 'replacing', session, options }));
      }
    }
    await results.finish();
    return code;
  },
});

/** A version in the file is the one that may be replaced; without one, whatever is there. */
async function replaceOne(session: Session, { target, config }: ApplyItem, options: OptionValues): Promise<ApiObject> {
  const live = await getTarget(session.connection, target);
  const metadata = { resourceVersion: live.metadata.resourceVersion, ...metadataOf(config) };
  const body = { ...(options['saveConfig'] === true ? withLastApplied({ ...config, metadata }) : { ...config, metadata }) };
  if (dryRunOf(options) === 'client') return body as ApiObject;
  return replaceObject(session, target, body, writeOptions(options));
}

async function recreate(session: Session, { target, config }: ApplyItem, options: OptionValues): Promise<ApiObject> {
  const body = asNew(options['saveConfig'] === true ? withLastApplied(config) : config);
  if (dryRunOf(options) !== 'none') return body as ApiObject;
  try {
    await deleteObject(session, target, { propagationPolicy: 'Background' });
    await followObject({ connection: session.connection, target, signal: session.signal, isDone: (object) => object === undefined });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  return createObject(session, target, body, writeOptions(options));
}

/** What belongs to the object that goes: a server takes none of it for one that comes, and then the old one would be gone for nothing. */
function asNew(config: ApplyItem['config']): ApplyItem['config'] {
  const { resourceVersion: _version, uid: _uid, creationTimestamp: _time, generation: _generation, ...metadata } = metadataOf(config);
  return { ...config, metadata };
}

function writeOptions(options: OptionValues) {
  return {
    fieldManager: String(options['fieldManager']),
    fieldValidation: fieldValidationOf(options),
    isDryRun: dryRunOf(options) === 'server',
  };
}
