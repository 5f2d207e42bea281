/** Objects that are to go: whom they wait for. Pure. */
import { FOREGROUND_FINALIZER, type KindObject, ORPHAN_FINALIZER } from '#api/meta.ts';
import type { Task } from '#api/types.ts';
import { describe, patch } from './commands.ts';
import { type Finding, leadingTo, type Sight, stuck, waiting } from './finding.ts';
import { isPatient } from './unseen.ts';
import { findAgent, ownedBy } from './view.ts';
import { idOf, listed, since, wordsOf } from './words.ts';

/** Finalizer → what it waits for, where the object alone tells. */
const OURS: Readonly<Record<string, string>> = {
  'agentiso.dev/workspace': 'its workspace to end',
  'agentiso.dev/network': 'its link and its network rules to be taken away',
  'agentiso.dev/attempt': 'its attempt to end',
  'agentiso.dev/team': 'what it made to go',
  'agentiso.dev/contents': 'what is in it to go',
  [FOREGROUND_FINALIZER]: 'what it owns to go',
  [ORPHAN_FINALIZER]: 'what it owns to be let go of',
};

const SAYS = 'is being deleted';

export function lookAtDeleting(object: KindObject, sight: Sight): Finding {
  const { finalizers = [] } = object.metadata;
  const foreign = finalizers.find((name) => !Object.hasOwn(OURS, name));
  const [first] = finalizers;
  if (foreign !== undefined) return heldByOthers(object, foreign, sight);
  if (first === undefined) return waiting(SAYS, 'nothing holds it: it is gone in a moment');
  return heldByUs(object, first, sight);
}

function heldByOthers(object: KindObject, finalizer: string, { view }: Sight): Finding {
  const rest = (object.metadata.finalizers ?? []).filter((name) => name !== finalizer);
  return stuck(SAYS, `the finalizer ${finalizer} keeps it, which is not agentiso's`, {
    text: 'whoever set it has to take it away; if nobody will:',
    command: patch(view, object, { metadata: { finalizers: rest.length > 0 ? rest : null } }),
  });
}

function heldByUs(object: KindObject, finalizer: string, sight: Sight): Finding {
  const { view, now } = sight;
  const because = `it waits for ${OURS[finalizer]} (${finalizer})`;
  const leads = leadsOf(object, finalizer, sight);
  if (leads.length > 0) return leadingTo(leads, SAYS, `it waits for ${OURS[finalizer]}: ${listed(leads.map(idOf))}`);
  const { deletionTimestamp } = object.metadata;
  if (isPatient(deletionTimestamp, now)) return waiting(SAYS, because);
  const warning = view.lastWarning(object);
  const told = warning ? `${because}; last warning: ${wordsOf(warning)}` : because;
  const advice = { text: 'that takes longer than it should; what happened:', command: describe(view, object) };
  return stuck(`has been deleted ${since(deletionTimestamp, now)}`, told, advice);
}

function leadsOf(object: KindObject, finalizer: string, { view }: Sight): readonly KindObject[] {
  if (finalizer === FOREGROUND_FINALIZER || finalizer === 'agentiso.dev/team') return ownedBy(view, object);
  const owner = finalizer === 'agentiso.dev/attempt' ? findAgent(view, (object as Task).status?.owner ?? '') : undefined;
  const isReady = owner?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True');
  return owner && !isReady && owner.metadata.deletionTimestamp === undefined ? [owner] : [];
}
