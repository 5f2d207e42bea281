/** `agentiso diff`: what apply would change, as the server sees it. 0: nothing; 1: something; more: it could not be found out. */

import type { ApiObject } from '#client/resource-api.ts';
import { isNotFound, StatusError } from '#client/status-error.ts';
import { type ApplyItem, type ApplyOptions, applyItem, toItems } from '#client/write/apply-set.ts';
import { getTarget } from '#client/write/target.ts';
import { toYaml } from '#lib/to-yaml.ts';
import { apiCommand, errorText, type Session } from '../api-command.ts';
import { EXIT, type OptionValues } from '../command.ts';
import { APPLY_OPTIONS, applyOptionsOf } from '../write/apply-flags.ts';
import { refusalText } from '../write/explain.ts';
import { type ComparedTexts, showDifference } from '../write/external-diff.ts';
import { FILENAME_OPTIONS, SELECTOR_OPTION } from '../write/flags.ts';
import { loadSet, tellProblems } from '../write/load-set.ts';

const TROUBLE = 2;

export const diffCommand = apiCommand({
  name: 'diff',
  summary: 'show what apply would change',
  description: 'Lets the server try it without storing anything. Exit code 0: nothing would change; 1: something would; above 1: trouble.',
  options: [
    ...FILENAME_OPTIONS,
    ...APPLY_OPTIONS,
    SELECTOR_OPTION,
    { flags: '--show-managed-fields', description: 'compare metadata.managedFields too' },
  ],
  async run(_args, options, session) {
    try {
      return await diff(session, options);
    } catch (error) {
      if (session.signal.aborted) return EXIT.interrupted;
      const said = errorText(error);
      if (said === undefined && !(error instanceof StatusError)) throw error;
      session.err(said ?? '');
      return TROUBLE;
    }
  },
});

async function diff(session: Session, options: OptionValues): Promise<number> {
  const apply = { ...applyOptionsOf(options, true), isUnnoted: true };
  const { documents, problems } = await loadSet(session, options);
  if (tellProblems(problems, session, 'diff')) return TROUBLE;
  const { items, unknown } = await toItems(documents, session);
  if (tellProblems(unknown, session, 'diff')) return TROUBLE;
  const compared: ComparedTexts[] = [];
  for (const item of items) {
    try {
      compared.push(await compare(session, { item, apply, isComplete: options['showManagedFields'] === true }));
    } catch (error) {
      session.err(await refusalText(error, { document: item.document, verb: 'comparing', session, options }));
      return TROUBLE;
    }
  }
  const isDifferent = await showDifference(compared, session);
  return isDifferent ? EXIT.failure : EXIT.ok;
}

interface Comparison {
  readonly item: ApplyItem;
  readonly apply: ApplyOptions;
  readonly isComplete: boolean;
}

async function compare(session: Session, { item, apply, isComplete }: Comparison): Promise<ComparedTexts> {
  const live = await getTarget(session.connection, item.target).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
  const { object } = await applyItem(session, item, apply);
  const shown = (each: ApiObject) => toYaml(isComplete ? each : withoutManagedFields(each));
  return { name: fileName(item, object), live: live ? shown(live) : '', merged: shown(object) };
}

function withoutManagedFields({ metadata: { managedFields: _, ...metadata }, ...rest }: ApiObject): ApiObject {
  return { ...rest, metadata } as ApiObject;
}

/** `agentiso.dev.v1alpha1.Team.default.x` */
function fileName({ target }: ApplyItem, { apiVersion, kind }: ApiObject): string {
  return [apiVersion.replace('/', '.'), kind, target.namespace ?? '', target.name].join('.');
}
