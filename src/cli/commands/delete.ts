/** `agentiso delete`: asks for deletion and waits, by a watch, until the objects are gone. */
import type { ApiObject } from '#client/resource-api.ts';
import { isNotFound } from '#client/status-error.ts';
import { deadlineIn } from '#client/write/deadline.ts';
import { followObject } from '#client/write/follow-object.ts';
import { deleteObject, type Removal } from '#client/write/requests.ts';
import { getTarget, type Target } from '#client/write/target.ts';
import { isObject } from '#lib/json.ts';
import { apiCommand, type Session } from '../api-command.ts';
import { EXIT, type OptionValues } from '../command.ts';
import { UsageError } from '../usage-error.ts';
import { complaint, inFile } from '../write/complaint.ts';
import { DRY_RUN_OPTION, dryRunOf, durationMs } from '../write/flags.ts';
import { dryRunSuffix, objectName, qualifiedName, timedOut } from '../write/outcome.ts';
import { findTargets, TARGETS_OPTIONS, type Targets } from '../write/targets.ts';

const FORCE_WARNING =
  'Warning: Immediate deletion does not wait for confirmation that the running resource has been terminated. The resource may continue to run on the cluster indefinitely.\n';
const CASCADES = { background: 'Background', foreground: 'Foreground', orphan: 'Orphan' } as const;

export const deleteCommand = apiCommand({
  name: 'delete',
  args: '[type-and-names...]',
  summary: 'delete resources',
  description:
    'Asks for the deletion of what is named, selected or in files, and waits until it is gone. Ctrl-C ends the waiting, not the deletion.',
  options: [
    ...TARGETS_OPTIONS,
    {
      flags: '--cascade [how]',
      description: 'what happens to what it owns: background (default), foreground (first) or orphan (stays)',
      choices: Object.keys(CASCADES),
    },
    { flags: '--wait', description: 'wait until it is gone (default); --wait=false comes back at once' },
    { flags: '--timeout <duration>', description: 'how long to wait at most; 0: until it is gone', default: '0s' },
    { flags: '--ignore-not-found', description: 'what is not there counts as deleted' },
    { flags: '--grace-period <seconds>', description: 'how long it may take to stop; negative: as it says itself', default: '-1' },
    { flags: '--now', description: 'the same as --grace-period=1' },
    { flags: '--force', description: 'the same as --grace-period=0, without waiting' },
    DRY_RUN_OPTION,
    { flags: '-o, --output <format>', description: 'print only the names', choices: ['name'] },
  ],
  async run(args, options, session) {
    const removal = removalOf(options);
    const timeoutMs = durationMs(String(options['timeout']), '--timeout');
    const found = await findTargets(session, args, options);
    if (found.targets.length === 0 && !found.isNamed) {
      session.out('No resources found\n');
      return EXIT.ok;
    }
    if (options['force'] === true) session.err(FORCE_WARNING);
    const { deleted, isFailed } = await deleteAll(session, found, { options, removal });
    const isWaiting = (options['wait'] ?? options['force'] !== true) && dryRunOf(options) === 'none';
    const waited = isWaiting ? await waitUntilGone(session, deleted, timeoutMs) : EXIT.ok;
    return waited === EXIT.ok && isFailed ? EXIT.failure : waited;
  },
});

function removalOf(options: OptionValues): Removal {
  const cascade = typeof options['cascade'] === 'string' ? (options['cascade'] as keyof typeof CASCADES) : 'background';
  const given = Number(options['gracePeriod']);
  if (!Number.isInteger(given))
    throw new UsageError(`invalid argument "${options['gracePeriod']}" for "--grace-period" flag: expected whole seconds`);
  if (options['now'] === true && given >= 0) throw new UsageError('--now and --grace-period cannot be specified together');
  const seconds = options['now'] === true ? 1 : options['force'] === true && given < 0 ? 0 : given;
  return {
    propagationPolicy: CASCADES[cascade],
    isDryRun: dryRunOf(options) === 'server',
    ...(seconds >= 0 ? { gracePeriodSeconds: seconds } : {}),
  };
}

interface Deleted {
  readonly target: Target;
  readonly uid: string | undefined;
}

interface DeleteWork {
  readonly options: OptionValues;
  readonly removal: Removal;
}

async function deleteAll(session: Session, { targets, isNamed }: Targets, { options, removal }: DeleteWork) {
  const deleted: Deleted[] = [];
  let isFailed = false;
  for (const target of targets) {
    if (session.signal.aborted) break;
    try {
      deleted.push({ target, uid: await deleteOne(session, target, { options, removal }) });
      session.out(`${lineOf(target, options)}\n`);
    } catch (error) {
      // Whatever was only selected may have gone by itself meanwhile.
      if (isNotFound(error) && (options['ignoreNotFound'] === true || !isNamed)) continue;
      isFailed = true;
      session.err(complaint(inFile(error, 'deleting', target.source)));
    }
  }
  return { deleted, isFailed };
}

/** The uid of what was deleted, when the server says it. */
async function deleteOne(session: Session, target: Target, { options, removal }: DeleteWork): Promise<string | undefined> {
  if (dryRunOf(options) === 'client') return (await getTarget(session.connection, target)).metadata.uid;
  const answer = await deleteObject(session, target, removal);
  return answer.kind === 'Status' ? statusUid(answer) : answer.metadata.uid;
}

function statusUid({ details }: ApiObject): string | undefined {
  return isObject(details) && typeof details['uid'] === 'string' ? details['uid'] : undefined;
}

function lineOf({ resource, name, namespace }: Target, options: OptionValues): string {
  if (options['output'] === 'name') return objectName(resource, name);
  const verb = options['force'] === true ? 'force deleted' : 'deleted';
  const from = namespace === undefined ? '' : ` from ${namespace} namespace`;
  return `${qualifiedName(resource)} "${name}" ${verb}${from}${dryRunSuffix(dryRunOf(options))}`;
}

async function waitUntilGone(session: Session, deleted: readonly Deleted[], timeoutMs: number): Promise<number> {
  const deadline = deadlineIn(timeoutMs > 0 ? timeoutMs : undefined);
  const signal = AbortSignal.any([session.signal, deadline.signal]);
  let code: number = EXIT.ok;
  try {
    for (const { target, uid } of deleted) {
      const isDone = (object: ApiObject | undefined) => object === undefined || (uid !== undefined && object.metadata.uid !== uid);
      await followObject({ connection: session.connection, target, signal, isDone }).catch((error: unknown) => {
        if (session.signal.aborted) throw error;
        code = EXIT.failure;
        session.err(deadline.signal.aborted ? timedOut(target) : complaint(error));
      });
    }
    return code;
  } catch (error) {
    if (!session.signal.aborted) throw error;
    session.err('interrupted: deletion goes on; nobody waits for it any more\n');
    return EXIT.interrupted;
  } finally {
    deadline.clear();
  }
}
