import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#lib/json.ts';
import { agent, ago, ask, condition, ready, readyTeam, running, team, unready, warning, why } from './why.fixture.ts';

const RESTART = [
  `agentiso stop a-dev`,
  `agentiso wait agent/a-dev '--for=jsonpath={.status.phase}=Stopped' --timeout=60s`,
  `agentiso start a-dev`,
].join(' && ');

describe('an agent that needs somebody', () => {
  it.each([
    {
      reason: 'IsolationUnavailable',
      message: 'the agent asks for isolation at least sandbox; this machine offers process (no bwrap)',
      spec: { isolation: { driver: 'auto', minimum: 'sandbox' } },
      text: 'apt-get install bubblewrap',
      command: 'agentiso doctor',
    },
    {
      reason: 'IsolationUnavailable',
      message: 'the agent asks for isolation vm; this machine offers process, sandbox',
      spec: { isolation: { driver: 'vm' } },
      text: 'this version has no driver vm; if sandbox is enough:',
      command: `agentiso patch team a -p '{"spec":{"isolation":{"driver":"auto","minimum":"sandbox"}}}'`,
    },
    {
      reason: 'LimitsUnavailable',
      message: 'isolation.requireLimits is set, and the process driver limits nothing',
      spec: {},
      text: 'or do without limits:',
      command: `agentiso patch team a -p '{"spec":{"isolation":{"requireLimits":false}}}'`,
    },
    {
      reason: 'BackendMissing',
      message: 'codex: not installed',
      spec: { backend: 'codex' },
      text: 'install it where the daemon runs:',
      command: 'agentiso backends install codex',
    },
    {
      reason: 'BackendMissing',
      message: 'acp: not configured',
      spec: { backend: 'acp' },
      text: 'configure it where the daemon runs:',
      command: 'agentiso backends',
    },
    {
      reason: 'ModelMissing',
      message: 'the backend qwen has no model of its own choice: set model',
      spec: { backend: 'qwen' },
      text: 'name the model that it shall use:',
      command: 'agentiso edit team a',
    },
    {
      reason: 'ModelUnknown',
      message: 'model "gpt-9": provider openai has gpt-x (models in credentials.yaml)',
      spec: { backend: 'codex' },
      text: 'name one that is there',
      command: 'agentiso edit team a',
    },
    {
      reason: 'SnapshotNotFound',
      message: 'there is no such snapshot of agent a-one',
      spec: { source: { agent: 'a-one', snapshot: 's' } },
      text: 'delete it, and fork from a snapshot that is there:',
      command: `agentiso delete agent a-dev`,
    },
    {
      reason: 'SecretMissing',
      message: "the daemon's environment has no KEY, TOKEN",
      spec: {},
      text: 'stop the daemon and start it with KEY, TOKEN set: KEY=... TOKEN=... agentiso serve',
      command: undefined,
    },
    {
      reason: 'ImageNotFound',
      message: 'the image rust has not been built; run: agentiso image build rust',
      spec: { image: 'rust' },
      text: 'build it where the daemon runs, or name another one in spec.image (agentiso image list shows them):',
      command: 'agentiso image build rust',
    },
    {
      reason: 'CrashLoop',
      message: 'the workspace exited 6 times; last: exit code 3: cannot read config',
      spec: {},
      text: 'see what it said (agentiso logs a-dev), mend it, then start it anew:',
      command: RESTART,
    },
    {
      reason: 'CrashLoop',
      message:
        'the workspace exited 6 times; last: the guest ended by SIGABRT after its workspace had reached its limit of 512 processes (pids.max)',
      spec: {},
      text: 'let its tasks run fewer than 512 processes and threads at once; see what it said (agentiso logs a-dev)',
      command: RESTART,
    },
    {
      reason: 'Exited',
      message: "the guest ended by SIGABRT after the daemon's control group had reached its limit of 90 processes (pids.max)",
      spec: { restartPolicy: 'Never' },
      text: 'give the daemon room for more than 90 processes and threads',
      command: RESTART,
    },
    {
      reason: 'Exited',
      message: 'exit code 3',
      spec: { restartPolicy: 'Never' },
      text: 'restartPolicy Never does not start it again',
      command: RESTART,
    },
    { reason: 'ProtocolMismatch', message: 'generation 1, not 2', spec: {}, text: 'of another version', command: RESTART },
    {
      reason: 'NetworkUnavailable',
      message: 'the team asks for network.allowInterAgent, network.allowCidrs but agents have no network here except the proxy: no nft',
      spec: {},
      text: 'run agentiso as root on a machine with nftables',
      command: `agentiso patch team a -p '{"spec":{"network":{"allowInterAgent":false,"allowCidrs":null}}}'`,
    },
    {
      reason: 'RulesRejected',
      message: 'nft refused the rules',
      spec: {},
      text: 'mend the network of this machine',
      command: 'agentiso doctor',
    },
    { reason: 'LinkFailed', message: 'ip: no', spec: {}, text: 'mend the network of this machine', command: 'agentiso doctor' },
    { reason: 'NetworkToolFailed', message: 'nft failed', spec: {}, text: 'mend the network of this machine', command: 'agentiso doctor' },
    { reason: 'PortTaken', message: 'hostPort 3000 is taken', spec: {}, text: 'another hostPort', command: 'agentiso edit team a' },
    { reason: 'Novel', message: 'something new', spec: {}, text: 'what happened to it:', command: 'agentiso describe agent a-dev' },
  ])('$reason: $message', ({ reason, message, spec, text, command }) => {
    const { state, steps, advice } = ask(unready('dev', reason, message, spec), [readyTeam('a')]);
    expect([state, steps]).toEqual(['stuck', [{ object: 'agent/a-dev', says: 'is not Ready', because: `${reason}: ${message}` }]]);
    expect(advice?.text).toContain(text);
    expect(advice?.command).toBe(command);
  });

  it('is changed itself when no team made it', () => {
    const own = agent('dev', { conditions: [condition('Ready', 'False', 'LimitsUnavailable', 'no')] }, {}, { ownerReferences: [] });
    expect(ask(own, [readyTeam('a')]).advice?.command).toBe(
      `agentiso patch agent a-dev -p '{"spec":{"isolation":{"requireLimits":false}}}'`,
    );
  });

  it('has a full inbox, which keeps nobody but those who write to it', () => {
    const what = agent('dev', {
      phase: 'Ready',
      conditions: [condition('Ready', 'True', 'Running'), condition('InboxFull', 'True', 'InboxFull')],
      mailbox: { unacked: 100, oldestUnackedAt: ago(60) },
    });
    expect(why(what)[0]).toMatch(
      /^agent\/a-dev has a full inbox: it has not acknowledged 100 messages, the oldest there since 60s; more are refused/,
    );
    expect(why(what)[1]).toContain('agentiso messages a/dev --unseen');
  });

  it('was stopped by a person', () => {
    const what = agent('dev', { phase: 'Stopped', conditions: [condition('Ready', 'False', 'Stopped')] }, { desiredState: 'Stopped' });
    expect(why(what)).toEqual([
      'agent/a-dev is Stopped: a person stopped it (spec.desiredState is Stopped)',
      'what helps: let it run again:',
      `  agentiso start a-dev`,
    ]);
  });

  it('rests with its team', () => {
    const what = agent('dev', { phase: 'Stopped', conditions: [condition('Ready', 'False', 'Stopped')] }, { desiredState: 'Stopped' });
    const resting = team('a', { conditions: [condition('Ready', 'False', 'Suspended', 'spec.suspend is true')] }, { suspend: true });
    expect(why(what, [resting])).toEqual([
      'agent/a-dev is Stopped: its team is suspended',
      '  team/a is suspended: spec.suspend is true',
      'what helps: let it go on:',
      `  agentiso patch team a -p '{"spec":{"suspend":false}}'`,
    ]);
  });

  it('says what its network says', () => {
    const conditions = [
      condition('Ready', 'False', 'NetworkNotReady', 'waiting for the network'),
      condition('NetworkReady', 'False', 'RulesRejected', 'no such chain'),
    ];
    expect(why(agent('dev', { phase: 'Starting', conditions }))[0]).toBe('agent/a-dev is not Ready: RulesRejected: no such chain');
  });
});

describe('an agent that needs time', () => {
  it.each(['Starting', 'Ending', 'NotRunning', 'NetworkNotReady', 'RelayDisconnected', 'HttpBindFailed'])('%s, at first', (reason) => {
    expect(ask(unready('dev', reason, 'on its way'))).toMatchObject({ state: 'waiting', steps: [{ because: `${reason}: on its way` }] });
  });

  it.each(['Starting', 'RelayDisconnected'])('%s, for too long', (reason) => {
    const old = agent('dev', { conditions: [condition('Ready', 'False', reason, 'on its way', 90)] });
    const { state, steps, advice } = ask(
      old,
      [],
      [warning('Agent', 'a-dev', 'HeartbeatLost', 'no heartbeat for 30 s'), warning('Agent', 'b', 'X', 'y')],
    );
    expect([state, steps[0]?.because, advice?.command]).toEqual([
      'stuck',
      `${reason}: on its way; last warning: HeartbeatLost: no heartbeat for 30 s`,
      RESTART,
    ]);
  });

  it('starts again after a pause, and says how long it still is', () => {
    const conditions = [
      condition('Ready', 'False', 'BackOff', 'the workspace exited (exit code 3); it starts again in 8 s'),
      condition('WorkspaceReady', 'False', 'Exited', '', 3),
    ];
    expect(why(agent('dev', { phase: 'Starting', restarts: 4, conditions }))).toEqual([
      'agent/a-dev is not Ready: BackOff: the workspace exited (exit code 3); it starts again in 5 s (restart 4 of 5)',
      'what helps: patience: it is started again by itself',
    ]);
  });

  it('stopped with the daemon', () => {
    expect(ask(unready('dev', 'DaemonStopped', 'the daemon stopped; it starts again with it'))).toMatchObject({
      state: 'waiting',
      advice: { command: 'agentiso serve' },
    });
  });

  it('is stopping, and its tasks may end', () => {
    const what = agent('dev', { phase: 'Stopping', conditions: [condition('Ready', 'False', 'Stopping')] }, { desiredState: 'Stopped' });
    expect(why(what, [running('x', 'dev')])[0]).toContain('task/a-x may go on for the grace period of the team');
  });

  it('is on its way out', () => {
    const what = agent('dev', ready('dev').status as JsonObject, {}, { annotations: { 'agentiso.dev/draining': ago(1) } });
    expect(why(what)).toEqual(['agent/a-dev is on its way out: team a does not ask for it any more']);
  });
});

describe('an agent that is well', () => {
  it('says so', () => {
    expect(why(ready('dev'))).toEqual(['agent/a-dev is Ready: it has run since 60s and waits for tasks']);
    expect(why(ready('dev'), [running('x', 'dev')])).toEqual(['agent/a-dev is Working: on task/a-x']);
  });
});

describe('an agent that is to have another run', () => {
  const pending = (message: string) => {
    const { conditions = [] } = ready('dev').status as { conditions?: JsonObject[] };
    return agent('dev', { phase: 'Ready', conditions: [...conditions, condition('ReplacePending', 'True', 'TaskRunning', message)] });
  };

  it('leads to the task it still holds', () => {
    const held = pending('the spec asks for memoryMiB 512 instead of 256; another run begins when it holds no Task');
    expect(why(held, [running('y', 'dev')])).toEqual([
      'agent/a-dev gets no new tasks: the spec asks for memoryMiB 512 instead of 256; another run begins when it holds no Task',
      '  task/a-y is Running on agent/a-dev since 12s, attempt 1 of 3',
      'what helps: patience: task/a-y is at work; it is ended in 288 s at the latest (spec.timeoutSeconds)',
    ]);
  });

  it('is a matter of a moment when it holds none', () => {
    expect(ask(pending('the spec asks for vcpus 4 instead of 2; another run begins')).state).toBe('waiting');
  });
});

describe('an agent that has used up its budget', () => {
  const message = 'budget.tokens is 100 tokens: 100 tokens are used; it gets no new Task';
  const poor = (metadata: JsonObject = {}) =>
    agent(
      'dev',
      { phase: 'Ready', conditions: [condition('Ready', 'True', 'Running'), condition('BudgetExhausted', 'True', 'NothingLeft', message)] },
      { budget: { tokens: 100 } },
      metadata,
    );
  const frozen = () => running('x', 'dev', { conditions: [condition('Frozen', 'True', 'BudgetExhausted', 'no more')] });

  it('names what raises it, in the team that has made it or in itself', () => {
    expect(why(poor(), [readyTeam('a')])).toEqual([
      `agent/a-dev gets no new tasks: ${message}`,
      'what helps: raise its budget, for example to twice as much:',
      `  agentiso patch team a --type json -p '[{"op":"add","path":"/spec/roles/0/budget/tokens","value":200}]'`,
    ]);
    expect(why(poor({ ownerReferences: [] }), [readyTeam('a'), frozen()])).toEqual([
      `agent/a-dev is frozen, with task/a-x: ${message}`,
      'what helps: raise its budget, for example to twice as much:',
      `  agentiso patch agent a-dev -p '{"spec":{"budget":{"tokens":200}}}'`,
    ]);
  });

  it('waits for what it has set aside for others that run', () => {
    expect(why(poor(), [readyTeam('a'), running('x', 'dev')])[0]).toBe(`agent/a-dev gets no new tasks: ${message}`);
  });
});

it('says of an agent whose tasks all stand still why they do', () => {
  const frozen = running('x', 'dev', { conditions: [condition('Frozen', 'True', 'BudgetExhausted', 'nothing is left')] });
  const [first, second] = why(ready('dev'), [frozen, readyTeam('a')]);
  expect(first).toBe('agent/a-dev is Working: on task/a-x, and nothing of it goes on');
  expect(second).toContain(
    'task/a-x is Running on agent/a-dev since 12s, attempt 1 of 3, and stands still: BudgetExhausted: nothing is left',
  );
  expect(why(ready('dev'), [frozen, running('y', 'dev'), readyTeam('a')])).toEqual(['agent/a-dev is Working: on task/a-x and task/a-y']);
});
