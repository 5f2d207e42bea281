import { describe, expect, it } from 'vitest';
import { CONTENTS_FINALIZER } from '#api/namespace.ts';
import { AGENT_FINALIZER } from '#controllers/agent/controller.ts';
import { VAULT_FINALIZER } from '#controllers/board/controller.ts';
import { MERGE_FINALIZER } from '#controllers/merge/done.ts';
import { NETWORK_FINALIZER } from '#controllers/network/controller.ts';
import { SNAPSHOT_FINALIZER } from '#controllers/snapshot/controller.ts';
import { TASK_FINALIZER } from '#controllers/task/controller.ts';
import { TEAM_FINALIZER } from '#controllers/team/controller.ts';
import { agent, ago, ask, condition, object, ready, readyTeam, running, task, team, unready, warning, why } from './why.fixture.ts';

const saved = { conditions: [condition('Rescued', 'True', 'NothingToKeep')] };
const going = (finalizers: readonly string[], seconds = 3) => ({ deletionTimestamp: ago(seconds), finalizers: [...finalizers] });

describe('what is being deleted', () => {
  it.each([
    {
      what: agent('dev', saved, {}, going(['agentiso.dev/network', 'agentiso.dev/workspace'])),
      want: 'its workspace to end (agentiso.dev/workspace)',
    },
    {
      what: agent('dev', {}, {}, going(['agentiso.dev/network'])),
      want: 'its link and its network rules to be taken away (agentiso.dev/network)',
    },
    { what: task('x', {}, {}, going(['agentiso.dev/attempt'])), want: 'its attempt to end (agentiso.dev/attempt)' },
    { what: team('a', {}, {}, going(['orphan'])), want: 'what it owns to be let go of (orphan)' },
  ])('waits for $want', ({ what, want }) => {
    expect(ask(what)).toMatchObject({ state: 'waiting', steps: [{ says: 'is being deleted', because: `it waits for ${want}` }] });
  });

  it('knows every finalizer that a controller of ours sets', () => {
    const first = [AGENT_FINALIZER, NETWORK_FINALIZER, TASK_FINALIZER, TEAM_FINALIZER];
    for (const finalizer of [...first, VAULT_FINALIZER, MERGE_FINALIZER, SNAPSHOT_FINALIZER, CONTENTS_FINALIZER]) {
      const [step] = ask(team('a', saved, {}, going([finalizer]))).steps;
      expect(step?.because).toMatch(new RegExp(`^it waits for .+ \\(${finalizer}\\)$`));
    }
    expect(why(team('a', {}, {}, going([VAULT_FINALIZER, TEAM_FINALIZER])))[0]).toContain('it waits for what it made to go');
  });

  it('says that the work of an agent is being saved, and what is in the way of that', () => {
    const saving = 'what is in its workspace and nowhere else is being saved, before the workspace ends';
    const workspace = ['agentiso.dev/workspace'];
    expect(why(agent('dev', {}, {}, going(workspace)))).toEqual([`agent/a-dev is being deleted: ${saving}`]);
    expect(why(agent('dev', {}, {}, going(workspace, 90)))[0]).toBe(`agent/a-dev has been deleted since 90s: ${saving}`);
    const failed = { conditions: [condition('Rescued', 'False', 'RescueFailed', 'ENOSPC')] };
    expect(why(agent('dev', failed, {}, going(workspace)))).toEqual([
      'agent/a-dev is being deleted: RescueFailed: ENOSPC',
      'what helps: mend what is in the way; or, if nobody needs that work:',
      `  agentiso patch agent a-dev -p '{"metadata":{"annotations":{"agentiso.dev/discard-work":"true"}}}'`,
    ]);
    const givenUp = { ...going(workspace), annotations: { 'agentiso.dev/discard-work': 'true' } };
    expect(why(agent('dev', failed, {}, givenUp))[0]).toContain('it waits for its workspace to end');
  });

  it('is gone in a moment when nothing holds it', () => {
    expect(why(team('a', {}, {}, going([])))).toEqual(['team/a is being deleted: nothing holds it: it is gone in a moment']);
  });

  it('is held for too long', () => {
    expect(
      why(agent('dev', saved, {}, going(['agentiso.dev/workspace'], 90)), [], [warning('Agent', 'a-dev', 'KillFailed', 'still there')]),
    ).toEqual([
      'agent/a-dev has been deleted since 90s: it waits for its workspace to end (agentiso.dev/workspace); last warning: KillFailed: still there',
      'what helps: that takes longer than it should; what happened:',
      '  agentiso describe agent a-dev',
    ]);
  });

  it.each([
    { finalizers: ['example.com/hold'], rest: 'null' },
    { finalizers: ['agentiso.dev/team', 'example.com/hold'], rest: '["agentiso.dev/team"]' },
  ])("is held by somebody else's finalizer: $finalizers", ({ finalizers, rest }) => {
    expect(why(team('a', {}, {}, going(finalizers)))).toEqual([
      "team/a is being deleted: the finalizer example.com/hold keeps it, which is not agentiso's",
      'what helps: whoever set it has to take it away; if nobody will:',
      `  agentiso patch team a -p '{"metadata":{"finalizers":${rest}}}'`,
    ]);
  });

  it.each(['foregroundDeletion', 'agentiso.dev/team'])('waits for what it owns: %s', (finalizer) => {
    const child = agent('dev', {}, {}, going(['example.com/hold']));
    expect(why(team('a', {}, {}, going([finalizer])), [child]).slice(0, 2)).toEqual([
      `team/a is being deleted: it waits for what it ${finalizer === 'agentiso.dev/team' ? 'made' : 'owns'} to go: agent/a-dev`,
      "  agent/a-dev is being deleted: the finalizer example.com/hold keeps it, which is not agentiso's",
    ]);
  });

  it('waits for an agent that cannot be asked to end its attempt', () => {
    const what = task('x', { phase: 'Running', owner: 'a-dev' }, {}, going(['agentiso.dev/attempt']));
    expect(why(what, [unready('dev', 'RelayDisconnected', 'refused')]).slice(0, 2)).toEqual([
      'task/a-x is being deleted: it waits for its attempt to end: agent/a-dev',
      '  agent/a-dev is not Ready: RelayDisconnected: refused',
    ]);
    expect(ask(what, [ready('dev')]).steps).toHaveLength(1);
  });
});

describe('a namespace', () => {
  const namespace = (metadata = {}) =>
    object('Namespace', 'prod', { metadata: { namespace: undefined, ...metadata }, status: { phase: 'Active' } });

  it('is active', () => {
    expect(why(namespace())).toEqual(['namespace/prod is Active: nothing is known to stand in its way']);
  });

  it('goes when what is in it is gone', () => {
    const left = [object('ConfigMap', 'c', { metadata: going([]) }), agent('dev', {}, {}, going(['example.com/hold']))];
    const { steps } = ask(namespace(going(['agentiso.dev/contents'])), left);
    expect(steps.map(({ object: id }) => id)).toEqual(['namespace/prod', 'agent/a-dev']);
    expect(steps[0]?.because).toContain('1 ConfigMap');
  });

  it('goes when it is empty', () => {
    const alone = namespace(going(['agentiso.dev/contents']));
    expect(ask(alone).steps[0]?.because).toContain('agentiso.dev/contents');
  });
});

describe('other kinds', () => {
  it('a Pod is its agent', () => {
    expect(
      why(object('Pod', 'a-dev', { status: { phase: 'Failed' } }), [unready('dev', 'BackendMissing', 'no codex'), readyTeam('a')])[1],
    ).toBe('  agent/a-dev is not Ready: BackendMissing: no codex');
  });

  it('anything else has its last warning, or nothing against it', () => {
    const map = object('ConfigMap', 'c');
    expect(why(map)).toEqual(['configmap/c is there: nothing is known to stand in its way']);
    expect(why(map, [], [warning('ConfigMap', 'c', 'InvalidYaml', 'line 3')])[0]).toBe(
      'configmap/c is there: nothing but its last warning says more: InvalidYaml: line 3',
    );
  });
});

describe('a refused edit', () => {
  const refused = [condition('EditRejected', 'True', 'InvalidYaml', 'line 3: no colon')];

  it('is told of what is well otherwise', () => {
    const what = team('a', { phase: 'Ready', conditions: [condition('Ready', 'True', 'AgentsReady'), ...refused] });
    expect(why(what, [ready('dev'), running('x', 'dev')])).toEqual([
      'team/a has a file whose last edit was refused: EditRejected: InvalidYaml: line 3: no colon',
      'what helps: make the edit again without the mistake, in resources/teams/default/a.yaml of the home; the refused text is beside it (.rejected)',
    ]);
  });

  it('gives way to what blocks, and blocks nobody else', () => {
    const what = team('a', { conditions: [condition('Ready', 'False', 'NameTaken', 'Agent a-dev exists and so on'), ...refused] });
    expect(ask(what).steps[0]?.because).toContain('NameTaken');
    const waiting = task('y', { phase: 'Blocked', reason: 'DependenciesPending' }, { dependsOn: ['x'] });
    expect(ask(waiting, [running('x', 'dev', { conditions: refused }), ready('dev')]).state).toBe('waiting');
  });
});

describe('what a followed directory declares', () => {
  it('is better changed in its file', () => {
    const managedFields = [
      { manager: 'kubectl', operation: 'Update' },
      { manager: 'dir:deploy-0123abcd', operation: 'Apply' },
    ];
    const what = task('x', { phase: 'Blocked', reason: 'DependencyNotFound' }, { dependsOn: ['y'] }, { managedFields });
    expect(ask(what).advice?.text).toBe('create it, or do without it (in its file: the directory deploy would take this back):');
  });
});
