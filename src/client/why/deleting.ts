/** Objects that are to go: whom they wait for. Pure. */
import { type Condition, FOREGROUND_FINALIZER, type KindObject, ORPHAN_FINALIZER } from '#api/meta.ts';
import type { Agent, Task } from '#api/types.ts';
import { describe, patch } from './commands.ts';
import { type Finding, leadingTo, type Sight, stuck, waiting } from './finding.ts';
import { isPatient } from './unseen.ts';
import { findAgent, ownedBy } from './view.ts';
import { conditionOf, idOf, listed, since, wordsOf } from './words.ts';

/** Finalizer → what it waits for, where the object alone tells. */
const OURS: Readonly<Record<string, string>> = {
  'agentiso.dev/workspace': 'its workspace to end',
  'agentiso.dev/network': 'its link and its network rules to be taken away',
  'agentiso.dev/attempt': 'its attempt to end',
  'agentiso.dev/team': 'what it made to go',
  'agentiso.dev/vault': 'its notes and cards to be put away',
  'agentiso.dev/merge': 'its work on the repository to end',
  'agentiso.dev/files': 'its files to be removed',
  'agentiso.dev/contents': 'what is in it to go',
  [FOREGROUND_FINALIZER]: 'what it owns to go',
  [ORPHAN_FINALIZER]: 'what it owns to be let go of',
};

const WORKSPACE = 'agentiso.dev/workspace';
const DISCARD = 'agentiso.dev/discard-work';
const SAYS = 'is being deleted';

export function lookAtDeleting(object: KindObject, sight: Sight): Finding {
  const { finalizers = [] } = object.metadata;
  const foreign = finalizers.find((name) => !Object.hasOwn(OURS, name));
  // Some wait for others: in the order in which ours go.
  const first = Object.keys(OURS).find((name) => finalizers.includes(name));
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
  const unsaved = finalizer === WORKSPACE ? unsavedWork(object as Agent) : undefined;
  if (unsaved?.failure) return lookAtUnsaved(object, unsaved.failure, sight);
  const because = unsaved ? SAVING : `it waits for ${OURS[finalizer]} (${finalizer})`;
  const leads = leadsOf(object, finalizer, sight);
  if (leads.length > 0) return leadingTo(leads, SAYS, `it waits for ${OURS[finalizer]}: ${listed(leads.map(idOf))}`);
  const { deletionTimestamp } = object.metadata;
  if (isPatient(deletionTimestamp, now)) return waiting(SAYS, because);
  const warning = view.lastWarning(object);
  const told = warning ? `${because}; last warning: ${wordsOf(warning)}` : because;
  const advice = { text: 'that takes longer than it should; what happened:', command: describe(view, object) };
  return stuck(`has been deleted ${since(deletionTimestamp, now)}`, told, advice);
}

const SAVING = 'what is in its workspace and nowhere else is being saved, before the workspace ends';

/** Of an agent nothing goes before that is in safety. Undefined: it is, or there was nothing, or nobody wants it. */
function unsavedWork(agent: Agent): { readonly failure: Condition | undefined } | undefined {
  const rescued = conditionOf(agent, 'Rescued');
  const isGivenUp = agent.metadata.annotations?.[DISCARD] === 'true';
  return rescued?.status === 'True' || isGivenUp ? undefined : { failure: rescued };
}

function lookAtUnsaved(agent: KindObject, failure: Condition, { view }: Sight): Finding {
  return stuck(SAYS, wordsOf(failure), {
    text: 'mend what is in the way; or, if nobody needs that work:',
    command: patch(view, agent, { metadata: { annotations: { [DISCARD]: 'true' } } }),
  });
}

function leadsOf(object: KindObject, finalizer: string, { view }: Sight): readonly KindObject[] {
  if (finalizer === FOREGROUND_FINALIZER || finalizer === 'agentiso.dev/team') return ownedBy(view, object);
  const owner = finalizer === 'agentiso.dev/attempt' ? findAgent(view, (object as Task).status?.owner ?? '') : undefined;
  const isReady = owner?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True');
  return owner && !isReady && owner.metadata.deletionTimestamp === undefined ? [owner] : [];
}
