/** `agentiso wait`: comes back when something is true of objects. It watches; it never asks again and again. */
import { isNotFound } from '#client/status-error.ts';
import { deadlineIn } from '#client/write/deadline.ts';
import { followObject } from '#client/write/follow-object.ts';
import { getTarget, type Target } from '#client/write/target.ts';
import { apiCommand, type Session } from '../api-command.ts';
import { EXIT } from '../command.ts';
import { complaint } from '../write/complaint.ts';
import { durationMs } from '../write/flags.ts';
import { objectName } from '../write/outcome.ts';
import { findTargets, TARGETS_OPTIONS } from '../write/targets.ts';
import { parseFor, type WaitFor } from '../write/wait-for.ts';

const WEEK_MS = 7 * 24 * 3_600_000;

export const waitCommand = apiCommand({
  name: 'wait',
  args: '[type-and-names...]',
  summary: 'wait until something is true of resources',
  description: 'Watches until every named or selected resource fulfils --for, or the time is over, which is exit code 1.',
  options: [
    {
      flags: '--for <what>',
      description: "condition=NAME[=VALUE], jsonpath='{.path}'[=VALUE], phase=VALUE, create or delete",
      isRequired: true,
      isRepeatable: true,
    },
    { flags: '--timeout <duration>', description: '0: look once; negative: a week', default: '30s' },
    ...TARGETS_OPTIONS,
    { flags: '-o, --output <format>', description: 'print only the names', choices: ['name'] },
  ],
  async run(args, options, session) {
    const wanted = (options['for'] as readonly string[]).map(parseFor);
    const givenMs = durationMs(String(options['timeout']), '--timeout');
    const { targets } = await findTargets(session, args, options);
    if (targets.length === 0 && !wanted.some(({ kind }) => kind === 'delete')) {
      session.err('error: no matching resources found\n');
      return EXIT.failure;
    }
    const overText = givenMs === 0 ? 'condition not met for' : 'timed out waiting for the condition on';
    const deadline = deadlineIn(givenMs < 0 ? WEEK_MS : givenMs);
    try {
      return await waitForAll(session, { targets, wanted, deadline: deadline.signal, isNameOnly: options['output'] === 'name', overText });
    } finally {
      deadline.clear();
    }
  },
});

interface Work {
  readonly targets: readonly Target[];
  readonly wanted: readonly WaitFor[];
  readonly deadline: AbortSignal;
  readonly isNameOnly: boolean;
  /** What to say of an object when the time is over. */
  readonly overText: string;
}

async function waitForAll(session: Session, work: Work): Promise<number> {
  const signal = AbortSignal.any([session.signal, work.deadline]);
  const failures: string[] = [];
  for (const target of work.targets) {
    try {
      await waitAndTell(session, { target, signal, ...work });
    } catch (error) {
      if (session.signal.aborted) return EXIT.interrupted;
      failures.push(work.deadline.aborted ? `${work.overText} ${target.resource.plural}/${target.name}\n` : complaint(error));
    }
  }
  tellFailures(failures, session);
  return failures.length === 0 ? EXIT.ok : EXIT.failure;
}

/** kubectl says `error: ` before a single one only. */
function tellFailures(failures: readonly string[], { err }: Session): void {
  const isSingle = failures.length === 1;
  for (const failure of failures) err(isSingle && !isServerWord(failure) ? `error: ${failure}` : failure);
}

function isServerWord(text: string): boolean {
  return /^(error:|Error from server)/.test(text);
}

async function waitAndTell(session: Session, work: Single & { readonly isNameOnly: boolean }): Promise<void> {
  const { resource, name } = work.target;
  if (await waitFor(session, work)) session.out(`${objectName(resource, name)}${work.isNameOnly ? '' : ' condition met'}\n`);
}

interface Single {
  readonly target: Target;
  readonly wanted: readonly WaitFor[];
  readonly signal: AbortSignal;
}

/** False when there was nothing to wait for: it was gone already. */
async function waitFor({ connection }: Session, { target, wanted, signal }: Single): Promise<boolean> {
  const isCreating = wanted.some(({ kind }) => kind === 'create');
  const isDeleting = wanted.some(({ kind }) => kind === 'delete');
  const first = await getTarget(connection, target).catch((error: unknown) => {
    if (isNotFound(error) && (isCreating || isDeleting)) return undefined;
    throw error;
  });
  if (first === undefined && isDeleting) return false;
  const uid = first?.metadata.uid;
  const isMet = (object: typeof first) => wanted.every((each) => each.isMet(object, uid));
  if (isMet(first)) return true;
  signal.throwIfAborted();
  await followObject({ connection, target, signal, isDone: isMet });
  return true;
}
