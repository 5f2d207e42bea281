/** `workspace_fork`: agents that begin as one is. */
import { findSnapshot, forkAgent, MAX_FORKS, takeSnapshot, USUAL_PREFIX } from '#client/snapshots.ts';
import { timeLimit } from '#lib/time-limit.ts';
import { described, flag, integer, list, object, text } from '#protocol/shape.ts';
import { label } from '../objects/fields.ts';
import { findAgent } from '../objects/find-agent.ts';
import { agentResource, MARGIN_MS, ofAgent, place, snapshotField, WAIT_MS } from '../snapshots/fields.ts';
import { defineTool } from '../tool.ts';
import { withHint } from '../work/with-hint.ts';

const input = object(ofAgent, {
  ...place,
  count: described(integer({ min: 1, max: MAX_FORKS }), 'How many. Default 1.'),
  prefix: described(label, `How their names begin: <prefix>-1, <prefix>-2, … Default ${USUAL_PREFIX}.`),
  snapshot: described(snapshotField, 'A snapshot of the agent to begin with. By default its files as they are now.'),
});

const fork = object(
  { agent: described(text, 'Its full name.'), success: flag },
  { code: described(text, 'Of what went wrong, for example QuotaExceeded.'), message: text },
);

export const workspaceFork = defineTool({
  name: 'workspace_fork',
  title: 'Fork an agent',
  description:
    'Makes agents of the same team, within its budget, whose files are those of an agent now or at a snapshot, with its role, resources, backend and rules, and each with a git branch of its own that begins where the agent is. Says of each what became of it. They start by themselves; wait_for kind Agent, condition Ready waits for one.',
  category: 'create',
  isReadOnly: false,
  input,
  output: object({ source: text, snapshot: text, forks: list(fork) }),
  deadlineMs: WAIT_MS + MARGIN_MS,
  resource: agentResource,
  async run({ count = 1, prefix = USUAL_PREFIX, snapshot: name, ...asked }, call) {
    if (count > 1) call.charge(count - 1);
    const agent = await findAgent(call, asked);
    const signal = AbortSignal.any([call.signal, timeLimit(WAIT_MS)]);
    const snapshot =
      name === undefined
        ? await withHint(takeSnapshot(call.client, agent, undefined, signal), { Conflict: 'suspend or stop the agent, then try again' })
        : await withHint(findSnapshot(call.client, agent, name), { NotFound: 'workspace_snapshot_list shows what there is' });
    const results = await forkAgent(call.client, agent, { count, prefix, snapshot });
    const { namespace, name: full } = snapshot.metadata;
    // It goes when the last of them has begun.
    if (name === undefined) await call.client.delete({ kind: 'Snapshot', namespace, name: full });
    return {
      source: agent.metadata.name,
      snapshot: full,
      forks: results.map(({ agent: made, error }) =>
        error ? { agent: made, success: false, code: error.reason, message: error.message } : { agent: made, success: true },
      ),
    };
  },
});
