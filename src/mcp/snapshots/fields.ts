/** What the tools for snapshots are told, and a Snapshot as they answer it. */
import type { Snapshot } from '#api/types.ts';
import { count, described, object, type Parsed, text } from '#protocol/shape.ts';
import { label, namespaceField, teamField } from '../objects/fields.ts';
import { given } from '../work/given.ts';

export const ofAgent = { team: teamField, agent: described(label, 'Short or full name of the agent.') };
export const snapshotField = described(label, 'Name of the snapshot; what it is called among those of the agent is enough.');
export const place = { namespace: namespaceField };

/** For what comes before and after the wait. */
export const MARGIN_MS = 30_000;
export const WAIT_MS = 120_000;

export const snapshotAnswer = object(
  { snapshot: described(text, 'Its full name.'), phase: text },
  {
    agent: described(text, 'Whose files it keeps; absent for the one that a team has prepared for its members.'),
    bytes: described(count, 'Disk it takes.'),
    taken_at: text,
    commit: described(text, 'Last commit of the agent that its team had then.'),
    message: described(text, 'Why it is not Ready.'),
  },
);

export function toSnapshotAnswer({ metadata, spec, status = {} }: Snapshot): Parsed<typeof snapshotAnswer> {
  const { phase = 'Pending', bytes, takenAt, commit, conditions = [] } = status;
  const message = phase === 'Ready' ? undefined : conditions.find(({ type }) => type === 'Ready')?.message;
  return { snapshot: metadata.name, phase, ...given({ agent: spec.agent, bytes, taken_at: takenAt, commit, message }) };
}

export function agentResource({ team, agent }: { readonly team: string; readonly agent: string }): string {
  return `agent/${team}/${agent}`;
}
