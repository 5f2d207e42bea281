import { describe, expect, it } from 'vitest';
import {
  agent,
  ago,
  ask,
  condition,
  object,
  ofTeam,
  ready,
  readyTeam,
  running,
  task,
  team,
  unready,
  waitingTask,
  warning,
  why,
} from './why.fixture.ts';

const stopped = (name: string) =>
  agent(name, { phase: 'Stopped', conditions: [condition('Ready', 'False', 'Stopped')] }, { desiredState: 'Stopped' });

describe('a task that is well', () => {
  it.each([
    {
      what: running('x', 'dev'),
      others: [ready('dev')],
      want: ['task/a-x is Running on agent/a-dev since 12s, attempt 1 of 3'],
    },
    {
      what: running('x', 'dev', { attempt: 3, failures: 1 }),
      others: [ready('dev')],
      want: ['task/a-x is Running on agent/a-dev since 12s, attempt 3 of 4'],
    },
    {
      what: task('x', { phase: 'Succeeded', owner: 'a-dev', attempt: 2, result: { elapsedSeconds: 0.5 } }),
      others: [],
      want: ['task/a-x is Succeeded: agent/a-dev did it in 0.5 s, attempt 2 of 3'],
    },
  ])('$want', ({ what, others, want }) => {
    expect(why(what, others)).toEqual(want);
    expect(ask(what, others).state).toBe('fine');
  });
});

describe('a task that is tried again', () => {
  const failed = (words: string) => [warning('Task', 'a-x', 'AttemptFailed', `attempt 1 of 3 failed: ${words}`)];

  it('says how it failed before', () => {
    expect(why(running('x', 'dev', { attempt: 2, failures: 1 }), [ready('dev')], failed('exit code 1'))).toEqual([
      'task/a-x is Running on agent/a-dev since 12s, attempt 2 of 3: attempt 1 of 3 failed: exit code 1',
    ]);
    expect(why(running('x', 'dev'), [ready('dev')], failed('of a task that had this name before'))).toHaveLength(1);
  });

  it('needs a credential where its agent was asked for one', () => {
    const again = running('x', 'dev', { attempt: 2, failures: 1 });
    expect(why(again, [ready('dev')], failed('AgentError: session/prompt: Authentication required'))).toEqual([
      'task/a-x is Running on agent/a-dev since 12s, attempt 2 of 3: attempt 1 of 3 failed: AgentError: session/prompt: Authentication required',
      'what helps: give the daemon a credential for the model of its agent; this says how:',
      '  agentiso backends',
    ]);
    const conditions = [condition('Ready', 'False', 'MaxAttempts', 'attempt 3 of 3: AgentError: session/prompt: Authentication required')];
    expect(why(task('x', { phase: 'Failed', reason: 'MaxAttempts', attempt: 3, conditions }))).toEqual([
      expect.stringContaining('task/a-x is Failed: MaxAttempts: '),
      'what helps: give the daemon a credential for the model of its agent (agentiso backends says how), then run it again:',
      '  agentiso retry a-x',
    ]);
  });
});

it('says of a task since when nothing was heard of it, while its agent may come back', () => {
  const lease = (seconds: number) => ({ renewTime: ago(seconds), expires: ago(seconds - 30) });
  const long = (seconds: number) => running('x', 'dev', { startedAt: ago(100), lease: lease(seconds) });
  expect(why(long(21), [ready('dev')])).toEqual([
    'task/a-x is Running on agent/a-dev since 100s, attempt 1 of 3: nothing was heard of it since 21s',
    'what helps: patience: after 30 s agent/a-dev is ended and starts again',
  ]);
  // Written with the claim, or long ago: it says nothing of now.
  for (const well of [long(100), long(31)]) expect(ask(well, [ready('dev')]).state).toBe('fine');
  expect(ask(running('x', 'dev', { lease: lease(12) }), [ready('dev')]).state).toBe('fine');
});

describe('a task that has to wait', () => {
  const failed = { attempt: 1, failures: 1, finishedAt: ago(0.2), result: { stderr: 'warning\noh no\n\n', stdout: 'x' } };
  it.each([
    {
      reason: 'AttemptFailed',
      what: task('x', {
        phase: 'Pending',
        reason: 'AttemptFailed',
        ...failed,
        conditions: [condition('Ready', 'False', 'AttemptFailed', 'attempt 1 of 3 exited with 7')],
      }),
      want: 'AttemptFailed: attempt 1 of 3 exited with 7; its last words: oh no; it goes again in 1 s',
    },
    {
      reason: 'RateLimited',
      what: task('x', { phase: 'Pending', reason: 'RateLimited', attempt: 1, notBefore: ago(-90) }),
      want: 'RateLimited; it goes again in 90 s',
    },
    {
      reason: 'NoEvidence',
      what: task('x', { phase: 'Pending', reason: 'NoEvidence', failures: 1, finishedAt: ago(9) }),
      want: 'NoEvidence; it goes again in a moment',
    },
    {
      reason: 'AttemptLost after its pause',
      what: task('x', { phase: 'Pending', reason: 'AttemptLost', failures: 1, finishedAt: ago(9) }),
      want: 'AttemptLost; it goes again in a moment',
    },
    {
      reason: 'LeaseExpired, the fourth time',
      what: task('x', { phase: 'Pending', reason: 'LeaseExpired', failures: 4, finishedAt: ago(2) }),
      want: 'LeaseExpired; it goes again in 6 s',
    },
    {
      reason: 'Interrupted',
      what: waitingTask('x', 'Pending', 'Interrupted', 'the daemon was stopped'),
      want: 'Interrupted: the daemon was stopped; it goes again at once',
    },
    {
      reason: 'AgentGone',
      what: waitingTask('x', 'Pending', 'AgentGone', 'agent a-y was deleted'),
      want: 'AgentGone: agent a-y was deleted; it goes again at once',
    },
    {
      reason: 'Reassigned',
      what: waitingTask('x', 'Pending', 'Reassigned', 'assignTo is z now'),
      want: 'Reassigned: assignTo is z now; it goes again at once',
    },
    { reason: 'one nobody knows', what: waitingTask('x', 'Pending', 'Novel', 'something new'), want: 'Novel: something new' },
  ])('$reason', ({ what, want }) => {
    expect(why(what)[0]).toBe(`task/a-x is Pending: ${want}`);
    expect(ask(what).state).toBe('waiting');
  });

  it('is new', () => {
    expect(why(object('Task', 'a-x', { spec: { team: 'a' } }))).toEqual(['task/a-x is new: nobody has looked at it yet']);
  });

  it('is old and nobody ever looked at it: nothing acts on it here', () => {
    const old = object('Task', 'a-x', { spec: { team: 'a' }, metadata: { creationTimestamp: ago(300) } });
    expect(why(old, [], [warning('Task', 'a-x', 'DiskFull', 'no space left')])).toEqual([
      'task/a-x has been there since 5m: nobody has looked at it yet; last warning: DiskFull: no space left',
      'what helps: nothing acts on it here; a daemon does. Is one running on this server?',
      '  agentiso serve',
    ]);
  });

  it('was changed a moment ago', () => {
    const changed = task('x', { phase: 'Blocked', observedGeneration: 1 }, { dependsOn: ['y'] }, { generation: 2 });
    expect(why(changed)[0]).toBe('task/a-x was changed: nobody has looked at the change yet');
  });

  it('has its turn after others', () => {
    const queued = waitingTask('x', 'Pending', 'Queued');
    const others = [waitingTask('b', 'Pending', 'Queued', '', { priority: 1 }), waitingTask('z', 'Pending', 'Queued'), running('y', 'dev')];
    expect(why(queued, others)).toEqual([
      'task/a-x is Pending: Queued: 1 task that is more urgent or older goes first',
      'what helps: patience: its turn comes; sooner with a higher priority:',
      `  agentiso patch task a-x -p '{"spec":{"priority":1}}'`,
    ]);
    expect(why(waitingTask('x', 'Pending', 'Queued', '', { priority: 1 }))).toEqual([
      'task/a-x is Pending: Queued: it is next',
      'what helps: patience: its turn comes',
    ]);
  });

  it('may not use any more, before it starts and while it runs', () => {
    const short = 'the budget.tokens of team a is 100 tokens: nothing is left';
    expect(why(waitingTask('x', 'Pending', 'BudgetExhausted', short), [readyTeam('a')])).toEqual([
      `task/a-x is Pending: BudgetExhausted: ${short}`,
      'what helps: raise its budget, or wait until other tasks give some of it back:',
      '  agentiso edit team a',
    ]);
    const ofAgent = 'the budget.usd of agent a-dev is $2.5: nothing is left';
    const rich = readyTeam('a', { roles: [{ name: 'ops' }, { name: 'dev', budget: { usd: '2.5' } }] });
    expect(why(waitingTask('x', 'Pending', 'BudgetExhausted', ofAgent), [rich, agent('dev', {}, { budget: { usd: '2.5' } })])).toEqual([
      `task/a-x is Pending: BudgetExhausted: ${ofAgent}`,
      'what helps: raise its budget, for example to twice as much:',
      `  agentiso patch team a --type json -p '[{"op":"add","path":"/spec/roles/1/budget/usd","value":"5"}]'`,
    ]);
    const own = 'it has used 12 tokens, and its budget.tokens is 10 tokens';
    const frozen = running('x', 'dev');
    Object.assign(frozen.status ?? {}, { conditions: [condition('Frozen', 'True', 'BudgetExhausted', own)] });
    expect(why(frozen, [ready('dev')])).toEqual([
      `task/a-x is Running on agent/a-dev since 12s, attempt 1 of 3, and stands still: BudgetExhausted: ${own}`,
      "what helps: raise the task's budget:",
      '  agentiso edit task a-x',
    ]);
  });

  it('names who holds the agents, and what they hold', () => {
    expect(why(waitingTask('x', 'Pending', 'AgentsBusy'), [ready('dev'), running('y', 'dev')])).toEqual([
      'task/a-x is Pending: AgentsBusy: every suitable agent has its hands full: agent/a-dev holds task/a-y',
      '  task/a-y is Running on agent/a-dev since 12s, attempt 1 of 3',
      'what helps: patience: task/a-y is at work; it is ended in 288 s at the latest (spec.timeoutSeconds)',
    ]);
    expect(why(waitingTask('x', 'Pending', 'AgentsBusy'), [ready('dev')])[0]).toContain('an agent has become free');
  });

  it('names what a team works on that may do no more at once', () => {
    const words = 'team a works on as many tasks at once as its spec.maxParallelTasks allows';
    expect(why(waitingTask('x', 'Pending', 'TeamBusy', words), [ready('dev'), running('y', 'dev')]).slice(0, 2)).toEqual([
      `task/a-x is Pending: TeamBusy: ${words}`,
      '  task/a-y is Running on agent/a-dev since 12s, attempt 1 of 3',
    ]);
  });

  it('names the branches that do not fit, and whom to ask', () => {
    const words = 'the branches of dev and ops do not fit in a.txt, which it would touch; what else can run goes first';
    const held = waitingTask('x', 'Pending', 'FilesInConflict', words);
    const [one, two] = ['ops', 'dev'].map((other) => [{ agent: other, files: ['a.txt'] }]);
    const fits = agent('qa', { conflicts: [{ agent: 'web', files: ['b.txt'] }] });
    expect(why(held, [fits, agent('dev', { conflicts: one }), agent('ops', { conflicts: two })])).toEqual([
      `task/a-x is Pending: FilesInConflict: ${words}`,
      'what helps: patience: it starts when nothing else can run, within 10 minutes; sooner when the branches fit:',
      "  agentiso message a-dev 'please bring the commits of ops into your branch: see a.txt'",
    ]);
    expect(why(held, [ready('dev')]).join()).toContain('the branches fit again');
  });
});

describe('a task without an agent', () => {
  const noAgent = (spec = {}) => waitingTask('x', 'Pending', 'NoAgent', 'team a has no agents', spec);

  it('names the closest of several, and how many others there are', () => {
    const agents = [unready('d1', 'CrashLoop', 'last: exit code 3'), stopped('d2'), unready('d3', 'BackendMissing')];
    expect(why(waitingTask('x', 'Pending', 'AgentNotReady', '', { assignTo: 'dev' }), [...agents, readyTeam('a')])).toEqual([
      'task/a-x is Pending: no suitable agent is ready; closest is agent/a-d2, 2 others could do it',
      '  agent/a-d2 is Stopped: a person stopped it (spec.desiredState is Stopped)',
      'what helps: let it run again:',
      `  agentiso start a-d2`,
    ]);
  });

  it('looks only at agents that suit', () => {
    const agents = [stopped('ops'), unready('dev', 'SecretMissing', "the daemon's environment has no KEY")];
    const asked = waitingTask('x', 'Pending', 'AgentNotReady', '', { assignTo: 'a-dev' });
    expect(why(asked, agents)[1]).toBe("  agent/a-dev is not Ready: SecretMissing: the daemon's environment has no KEY");
  });

  it('has no team', () => {
    expect(why(noAgent(), [readyTeam('ab')])).toEqual([
      'task/a-x is Pending: NoAgent: there is no team a (there is ab)',
      'what helps: apply a manifest of a Team called a; a task cannot change its team',
    ]);
  });

  it('asks for somebody the team does not have', () => {
    expect(why(noAgent({ assignTo: 'dve' }), [readyTeam('a'), ready('dev-1')])).toEqual([
      'task/a-x is Pending: NoAgent: team a has no agent or role dve; it has dev and dev-1',
      'what helps: if dev is meant:',
      `  agentiso patch task a-x -p '{"spec":{"assignTo":"dev"}}'`,
    ]);
    expect(why(noAgent({ assignTo: 'cook' }), [readyTeam('a')]).slice(1)).toEqual([
      'what helps: let anybody of the team do it:',
      `  agentiso patch task a-x -p '{"spec":{"assignTo":null}}'`,
    ]);
  });

  it('is told in the team where the team has made it', () => {
    const listing = readyTeam('a', { tasks: [{ name: 'w' }, { name: 'x' }] });
    const own = task('x', { phase: 'Pending', reason: 'NoAgent' }, { assignTo: 'dve' }, ofTeam('a'));
    expect(why(own, [listing]).at(-1)).toBe(
      `  agentiso patch team a --type json -p '[{"op":"add","path":"/spec/tasks/1/assignTo","value":"dev"}]'`,
    );
    const other = task('x', { phase: 'Pending', reason: 'NoAgent' }, { assignTo: 'cook' }, ofTeam('a'));
    expect(why(other, [listing]).at(-1)).toBe(`  agentiso patch team a --type json -p '[{"op":"remove","path":"/spec/tasks/1/assignTo"}]'`);
  });

  it('waits for a team that cannot be made', () => {
    const stalled = team('a', {
      conditions: [condition('Ready', 'False', 'NameTaken', 'Agent a-dev exists and does not belong to this team')],
    });
    expect(why(noAgent({ assignTo: 'dev' }), [stalled]).slice(0, 2)).toEqual([
      'task/a-x is Pending: NoAgent: dev of team/a does not exist yet',
      '  team/a is not Ready: NameTaken: Agent a-dev exists and does not belong to this team',
    ]);
  });

  it('runs on one that cannot be reached', () => {
    expect(why(running('x', 'dev'), [unready('dev', 'RelayDisconnected', 'connection refused')])).toEqual([
      'task/a-x is Running on agent/a-dev since 12s, attempt 1 of 3: agent/a-dev is not ready',
      '  agent/a-dev is not Ready: RelayDisconnected: connection refused',
      'what helps: patience: that takes a few seconds',
    ]);
  });
});

describe('a task that depends on others', () => {
  const blocked = (name: string, dependsOn: readonly string[], reason = 'DependenciesPending') =>
    waitingTask(name, 'Blocked', reason, '', { dependsOn });

  it('follows them down to what blocks, past what only takes time', () => {
    const others = [
      blocked('deploy', ['build', 'docs']),
      running('docs', 'w'),
      ready('w'),
      waitingTask('build', 'Pending', 'AgentNotReady', '', { assignTo: 'a-dev' }),
      stopped('dev'),
    ];
    expect(why(blocked('announce', ['deploy']), others)).toEqual([
      'task/a-announce is Blocked: it waits for task/a-deploy',
      '  task/a-deploy is Blocked: it waits for task/a-build and task/a-docs',
      '    task/a-build is Pending: no suitable agent is ready',
      '      agent/a-dev is Stopped: a person stopped it (spec.desiredState is Stopped)',
      'what helps: let it run again:',
      `  agentiso start a-dev`,
    ]);
  });

  it('finds the bad end behind equal beginnings', () => {
    const others = [blocked('b', ['e']), blocked('c', ['d']), running('e', 'w'), ready('w'), blocked('d', ['nobody'])];
    expect(ask(blocked('x', ['b', 'c']), others).steps.map((step) => step.object)).toEqual(['task/a-x', 'task/a-c', 'task/a-d']);
  });

  it('waits for what runs: patience', () => {
    const { state, advice } = ask(blocked('x', ['y']), [running('y', 'dev'), ready('dev')]);
    expect([state, advice?.text]).toEqual([
      'waiting',
      'patience: task/a-y is at work; it is ended in 288 s at the latest (spec.timeoutSeconds)',
    ]);
  });

  it('waits for one that failed', () => {
    const result = { exitCode: 7, stderr: 'make: *** [all] Error 2\n', stdout: '' };
    const failed = task('y', {
      phase: 'Failed',
      reason: 'MaxAttempts',
      result,
      conditions: [condition('Ready', 'False', 'MaxAttempts', 'attempt 3 of 3 exited with 7')],
    });
    expect(why(blocked('x', ['y'], 'DependencyFailed'), [failed])).toEqual([
      'task/a-x is Blocked: DependencyFailed: it waits for task/a-y, which failed',
      '  task/a-y is Failed: MaxAttempts: attempt 3 of 3 exited with 7; its last words: make: *** [all] Error 2',
      'what helps: mend what made it fail, then run it again:',
      `  agentiso retry a-y`,
    ]);
  });

  it('waits for one that was cancelled', () => {
    const cancelled = task('y', { phase: 'Failed', reason: 'Cancelled' }, { cancelled: true });
    expect(ask(blocked('x', ['y'], 'DependencyFailed'), [cancelled])).toMatchObject({
      state: 'stuck',
      advice: { text: 'if it is wanted after all:' },
    });
    expect(ask(cancelled).state).toBe('fine');
  });

  it('waits for one that does not exist', () => {
    expect(why(blocked('x', ['biuld', 'y'], 'DependencyNotFound'), [running('build', 'w'), running('y', 'w')])).toEqual([
      'task/a-x is Blocked: DependencyNotFound: team a has no task biuld',
      'what helps: if build is meant:',
      `  agentiso patch task a-x -p '{"spec":{"dependsOn":["build","y"]}}'`,
    ]);
    expect(why(blocked('x', ['nothing-like-it'], 'DependencyNotFound')).slice(1)).toEqual([
      'what helps: create it, or do without it:',
      `  agentiso patch task a-x -p '{"spec":{"dependsOn":[]}}'`,
    ]);
  });

  it('waits in a circle, or for one', () => {
    const circle = [blocked('b', ['c'], 'DependencyCycle'), blocked('c', ['d'], 'DependencyCycle'), blocked('d', ['b'], 'DependencyCycle')];
    const told = [
      'task/a-b is Blocked: DependencyCycle: each of these waits for the next: b → c → d → b',
      'what helps: take one dependency out of the circle, for example that of d on b:',
      `  agentiso patch task a-d -p '{"spec":{"dependsOn":[]}}'`,
    ];
    const [b] = circle;
    if (!b) throw new Error('three');
    expect(why(b, circle)).toEqual(told);
    expect(why(blocked('x', ['c'], 'DependencyCycle'), circle)).toEqual([
      'task/a-x is Blocked: it waits for task/a-b, which waits for itself',
      `  ${told[0]}`,
      ...told.slice(1),
    ]);
  });

  it('says in its own words what nobody knows', () => {
    expect(why(waitingTask('x', 'Blocked', 'WaitsForTheMoon', 'not full yet'))[0]).toBe(
      'task/a-x is Blocked: WaitsForTheMoon: not full yet',
    );
  });

  it('shows the beginning and the end of a long chain', () => {
    const chain = Array.from({ length: 20 }, (_, at) => blocked(`t${at}`, [`t${at + 1}`]));
    const lines = why(chain[0] as ReturnType<typeof blocked>, [...chain.slice(1), running('t20', 'w'), ready('w')]);
    expect(lines).toHaveLength(7);
    expect(lines[2]).toBe('    ... 16 more steps, -o json shows all');
  });

  it('survives a chain of 20,000', () => {
    const chain = Array.from({ length: 20_000 }, (_, at) => blocked(`t${at}`, [`t${at + 1}`]));
    expect(ask(chain[0] as ReturnType<typeof blocked>, chain.slice(1)).steps).toHaveLength(20_000);
  });
});

describe('a task that failed', () => {
  it.each([
    { said: '/bin/sh: 1: Cannot fork\n' },
    { said: 'bash: fork: retry: Resource temporarily unavailable\n' },
    { said: 'Error: spawn /bin/sh EAGAIN\n' },
  ])('because it could start no more processes says which limits there are: $said', ({ said }) => {
    const conditions = [condition('Ready', 'False', 'MaxAttempts', 'attempt 1 of 1 exited with 2')];
    const result = { exitCode: 2, stdout: '', stderr: said };
    const { advice } = ask(task('x', { phase: 'Failed', reason: 'MaxAttempts', conditions, attempt: 1, result }));
    expect(advice?.text).toMatch(
      /no more processes could be started \(a workspace may have 512.*pids\.max.*fewer at once, then run it again:/,
    );
  });

  const failed = (reason: string, message = '', spec = {}, metadata = {}) =>
    task('x', { phase: 'Failed', reason, conditions: [condition('Ready', 'False', reason, message)] }, spec, metadata);
  const again = `agentiso retry a-x`;
  it.each([
    { reason: 'MaxAttempts', what: failed('MaxAttempts', 'attempt 1 of 1 timed out after 5 s'), command: again },
    {
      reason: 'NotSupportedYet',
      what: failed('NotSupportedYet', 'this version does not act on spec.verify'),
      command: `agentiso edit task a-x && ${again}`,
    },
    {
      reason: 'TooLarge',
      what: failed('TooLarge', 'command and env together are too large'),
      command: `agentiso edit task a-x && ${again}`,
    },
    { reason: 'Novel', what: failed('Novel', 'something new'), command: again },
    {
      reason: 'Cancelled',
      what: failed('Cancelled', '', { cancelled: true }),
      command: again,
    },
    { reason: 'RequestExpired', what: failed('RequestExpired', 'nobody has claimed it within 30 s'), command: again },
    { reason: 'PlanRejected', what: failed('PlanRejected', 'round 3 of 3 was refused'), command: `agentiso edit task a-x && ${again}` },
  ])('$reason', ({ what, command }) => {
    expect(ask(what).advice?.command).toBe(command);
  });

  it.each([
    { reason: 'MaxAttempts', entry: {}, command: 'agentiso retry a-x' },
    { reason: 'NotSupportedYet', entry: {}, command: 'agentiso edit team a && agentiso retry a-x' },
    { reason: 'Cancelled', entry: {}, command: 'agentiso retry a-x' },
    {
      reason: 'Cancelled',
      entry: { cancelled: true },
      command: 'agentiso retry a-x',
    },
  ])('$reason, made by a team that lists it with $entry', ({ reason, entry, command }) => {
    const listing = readyTeam('a', { tasks: [{ name: 'x', ...entry }] });
    expect(ask(failed(reason, '', { cancelled: true }, ofTeam('a')), [listing]).advice?.command).toBe(command);
  });

  it('cannot bring its own escapes to the terminal', () => {
    const result = { stderr: '\u001b[2Jgone\n' };
    expect(why(task('x', { phase: 'Failed', reason: 'MaxAttempts', result }))[0]).toBe(
      'task/a-x is Failed: MaxAttempts; its last words: ^[[2Jgone',
    );
  });
});

it('being cancelled while it runs is said', () => {
  const what = task('x', { phase: 'Running', owner: 'a-dev', attempt: 1, startedAt: ago(12) }, { cancelled: true });
  expect(why(what, [ready('dev')])[0]).toContain('it was cancelled and is being ended');
});

it.each([
  ['WorkspaceFull', 'its workspace', 512, 'let its tasks run fewer than 512 processes and threads at once, or end some of them'],
  [
    'DaemonFull',
    "the daemon's control group",
    90,
    'give the daemon room for more than 90 processes and threads (pids.max of its control group, TasksMax of its unit), or run fewer agents, or end some of them',
  ],
])('the limit of processes at which it sits is named: %s', (reason, whose, limit, helps) => {
  const message = `${whose} has reached its limit of ${limit} processes and threads (pids.max); more are refused until some end`;
  const full = agent('dev', {
    phase: 'Working',
    conditions: [condition('Ready', 'True', 'Running'), condition('ProcessLimit', 'True', reason, message)],
  });
  const what = running('x', 'dev');
  expect([ask(what, [full]).state, ask(what, [full]).advice?.text]).toEqual(['stuck', helps]);
  expect(why(what, [full])[0]).toBe(`task/a-x is Running on agent/a-dev since 12s, attempt 1 of 3: ${reason}: ${message}`);
  expect(ask(full).state).toBe('stuck');
});

it('Stuck is said', () => {
  const what = running('x', 'dev', { conditions: [condition('Stuck', 'True', 'TooLong', 'no progress for 9 minutes')] });
  expect(why(what, [ready('dev')])[0]).toBe('task/a-x is Running on agent/a-dev since 12s, attempt 1 of 3: no progress for 9 minutes');
});

describe('a task that agents claim by themselves', () => {
  const open = (spec = {}) => waitingTask('x', 'Pending', 'OpenForClaim', 'any suitable agent of the team may claim it', spec);

  it('says who may, and how to let them know', () => {
    expect(why(open(), [ready('dev'), readyTeam('a')])).toEqual([
      'task/a-x is Pending: OpenForClaim: it is not assigned; agent/a-dev may claim it',
      'what helps: let an agent know of it; it runs `team claim`:',
      `  agentiso message a-dev 'please claim a-x'`,
    ]);
  });

  it('leads to the agent that would have to be ready, and never to whoever asked', () => {
    const request = { by: 'boss', timeoutSeconds: 30 };
    expect(why(open({ request }), [ready('boss'), stopped('dev'), readyTeam('a')])[1]).toMatch(/^ {2}agent\/a-dev is Stopped/);
    expect(why(open({ request }), [ready('boss'), ready('dev')])[0]).toMatch(/agent\/a-dev may claim it; it expires 30 s after/);
  });

  it('names the skill that nobody has', () => {
    const what = waitingTask('x', 'Pending', 'NoAgent', '', { skills: ['sql'] });
    expect(why(what, [ready('dev'), readyTeam('a')])).toEqual([
      'task/a-x is Pending: NoAgent: nobody in team a has the skill sql',
      'what helps: give a role of the team that skill, or do without it:',
      `  agentiso patch task a-x -p '{"spec":{"skills":null}}'`,
    ]);
  });

  it('is at work when somebody has it', () => {
    const held = running('x', 'dev', { claim: 'Pulled' });
    expect(ask(held, [ready('dev')])).toMatchObject({ state: 'fine' });
  });

  it('was declared blocked by its owner', () => {
    const conditions = [condition('Ready', 'False', 'BlockedByOwner', 'no key')];
    const what = task('x', { phase: 'Blocked', reason: 'BlockedByOwner', owner: 'a-dev', startedAt: ago(12), conditions });
    expect(why(what, [ready('dev')])).toEqual([
      'task/a-x is Blocked on agent/a-dev since 12s: BlockedByOwner: no key',
      'what helps: help it on with a word, or assign the task to somebody else:',
      '  agentiso message a-dev TEXT',
    ]);
  });

  it('waits out its pause after a verification that failed, and tells what that said', () => {
    const commands = [{ command: 'make test', exitCode: 2, output: '1 failed\n' }];
    const what = task('x', {
      phase: 'Pending',
      reason: 'VerifyFailed',
      attempt: 1,
      failures: 1,
      finishedAt: ago(0.2),
      verification: { attempt: 1, passed: false, commands },
      result: { stdout: 'fine' },
    });
    expect(why(what)[0]).toBe('task/a-x is Pending: VerifyFailed; its last words: 1 failed; it goes again in 1 s');
  });

  it('is being verified', () => {
    const what = running('x', 'dev', { reason: 'Verifying' });
    expect(why(what, [ready('dev')])[0]).toMatch(/its work is done and is being verified$/);
  });
});

describe('a task that needs a plan', () => {
  const planning = (status: string, reason: string, message: string) =>
    task(
      'x',
      { phase: 'Claimed', owner: 'a-dev', attempt: 1, conditions: [condition('PlanApproved', status, reason, message)] },
      { planRequired: true },
    );

  it.each([
    { what: planning('False', 'PlanNeeded', 'a-dev is to submit a plan'), state: 'waiting', command: undefined },
    { what: planning('False', 'PlanRefused', 'round 1 of 3 was refused'), state: 'waiting', command: undefined },
    { what: planning('Unknown', 'PlanSubmitted', 'round 1 of 3 waits for the lead'), state: 'stuck', command: 'agentiso approve a-x' },
  ])('$what.status.conditions.0.reason', ({ what, state, command }) => {
    const found = ask(what, [ready('dev')]);
    expect([found.state, found.advice?.command]).toEqual([state, command]);
  });

  it.each([
    ['Unknown', 'agentiso approve a-x'],
    ['False', 'agentiso retry a-x'],
  ])('PlanTimeout with PlanApproved %s', (status, command) => {
    const conditions = [condition('Ready', 'False', 'PlanTimeout', 'too late'), condition('PlanApproved', status, 'X')];
    const what = task('x', { phase: 'Blocked', reason: 'PlanTimeout', conditions }, { planRequired: true });
    expect(ask(what).advice?.command).toBe(command);
    expect(why(what)[0]).toBe('task/a-x is Blocked: PlanTimeout: too late');
  });
});
