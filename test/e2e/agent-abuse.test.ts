/**
 * An agent that wants more than it may: to be somebody else, to read and change what is not its own, to allow itself what others must allow,
 * to ask without end. Every try is refused with the right word, is in the log of calls when it reached the host, and changes nothing.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { AgentsHome, WAIT } from '../support/agents-home.ts';
import { requestsFrom } from '../support/agents-requests.ts';
import { apiClient } from '../support/api-client.ts';
import { type ApiHome, openApiHome } from '../support/api-desks.ts';
import { readKubeconfig, temporaryFolder } from '../support/daemon.ts';

const MARKER = 'xyzzy-nobody-may-see-this';
const SENT_AT_ONCE = 50;
const LOOKS = 5;
const FORGED = 'words that must not be in any file';
const LIMIT_TEXT = 'Rate limit exceeded for team_message operations. Maximum 300 calls per minute. Please wait and retry.';

const GROUP = '/apis/agentiso.dev/v1alpha1/namespaces/default';

type Fields = Readonly<Record<string, unknown>>;

interface Answer {
  readonly status: number;
  readonly body: Fields & { readonly code?: string };
  readonly atMs: number;
}

/** Says verbs on the agent's own socket, one after the other and again when it was too fast, or all at once. */
const ASK = `
const { calls, isAtOnce } = JSON.parse(process.argv[1]);
const post = ([verb, params]) => new Promise((resolve, reject) => {
  const options = { socketPath: process.env.AGENTISO_SOCKET, path: '/' + verb, method: 'POST' };
  const request = require('node:http').request(options, async (answer) => {
    let text = '';
    for await (const chunk of answer) text += chunk;
    resolve({ status: answer.statusCode, body: JSON.parse(text), atMs: performance.now() });
  });
  request.on('error', reject);
  request.end(JSON.stringify(params));
});
const insist = async (call) => {
  const answer = await post(call);
  if (answer.status !== 429) return answer;
  await new Promise((resolve) => setTimeout(resolve, answer.body.retry_after_ms));
  return insist(call);
};
(async () => {
  const startMs = performance.now();
  const answers = isAtOnce ? await Promise.all(calls.map(post)) : [];
  if (!isAtOnce) for (const call of calls) answers.push(await insist(call));
  console.log(JSON.stringify(answers.map((answer) => ({ ...answer, atMs: answer.atMs - startMs }))));
})();`;

type Call = readonly [verb: string, params: Fields];

/** Every file below by its path, but for those that are being written at this moment. */
function filesOf(folder: string): [path: string, text: string][] {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => !path.startsWith('.agentiso'));
  return paths.sort().flatMap((path) => {
    const isFile = statSync(join(folder, path), { throwIfNoEntry: false })?.isFile();
    return isFile ? [[path, readFileSync(join(folder, path), 'latin1')]] : [];
  });
}

function hashesOf(folder: string, isWanted: (path: string) => boolean = () => true): Readonly<Record<string, string>> {
  const files = filesOf(folder).filter(([path]) => isWanted(path));
  return Object.fromEntries(files.map(([path, text]) => [path, createHash('sha256').update(text, 'latin1').digest('hex')]));
}

const isGenerated = (path: string) => /^teams\/[^/]+\/(?:tasks|cards)\//.test(path);

describe('an agent in its workspace', () => {
  const home = new AgentsHome();
  const isolation = { driver: 'auto', minimum: 'process' };
  const roles = ['lead', 'coder', 'tester'].map((name) => ({ name }));
  const names = ['ours', 'theirs'].flatMap((team) => roles.map(({ name }) => `${team}-${name}`));
  const note = (team: string) => `teams/${team}/notes/secret.md`;

  beforeAll(async () => {
    await home.start();
    for (const team of ['ours', 'theirs']) {
      await home.create('Team', team, { isolation, roles, budget: { maxAgents: 5 }, subTeams: 'Any' });
      await home.call('PUT', `/vault/notes/${note(team)}`, { content: `${MARKER}\n` });
      await home.create('Task', `${team}-open`, { team, prompt: MARKER });
    }
    await home.create('Task', 'ours-held', { team: 'ours', prompt: MARKER });
    await home.create('Task', 'ours-again', { team: 'ours', prompt: MARKER });
    await home.create('Task', 'ours-planned', { team: 'ours', assignTo: 'coder', planRequired: true, command: 'true' });
    await home.ready(names);
    await prepare();
    symlinkSync(`../../theirs/notes/secret.md`, join(home.home, 'vault', 'teams', 'ours', 'notes', 'link.md'));
    symlinkSync(`../../../../state/access`, join(home.home, 'vault', 'teams', 'ours', 'notes', 'way-out'));
  });
  afterAll(() => home.close());

  const asks = async (agent: string, calls: readonly Call[], isAtOnce = false): Promise<Answer[]> =>
    JSON.parse(await home.inside(agent, 'node', '-e', ASK, JSON.stringify({ calls, isAtOnce })));
  const wordsOf = (answers: readonly Answer[]) => answers.map(({ status, body }) => (status === 200 ? 'done' : body.code));
  const logged = (): Fields[] => {
    const directory = join(home.home, 'state', 'audit');
    if (!existsSync(directory)) return [];
    const text = readdirSync(directory).map((file) => readFileSync(join(directory, file), 'utf8'));
    expect(text.join('')).not.toContain(MARKER);
    return text
      .join('')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  };
  const linesOf = (agent: string) =>
    logged()
      .filter(({ who }) => who === `agent:default/${agent.replace('-', '/')}`)
      .map(({ tool, resource = '-', outcome }) => `${tool} ${resource} ${outcome}`);
  /** What must not change. Of teams and agents what they should be: how they are is seen in their status, and in the files that show it. */
  const stateOf = async () => ({
    specs: [...(await home.list('teams')), ...(await home.list('agents'))].map(({ metadata, spec }) => [
      metadata.name,
      metadata.generation,
      spec,
    ]),
    tasks: (await home.list('tasks')).map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`),
    notes: hashesOf(join(home.home, 'vault'), (path) => !isGenerated(path)),
    mail: hashesOf(join(home.home, 'state', 'mail')),
    access: hashesOf(join(home.home, 'state', 'access')),
    forged: filesOf(join(home.home, 'vault')).filter(([, text]) => text.includes(FORGED)),
  });
  /** As soon as nothing is under way any more: nothing has changed for some looks. */
  const settled = async () => {
    let state = await stateOf();
    let equal = 0;
    await vi.waitFor(
      async () => {
        const now = await stateOf();
        equal = isDeepStrictEqual(now, state) ? equal + 1 : 0;
        state = now;
        expect(equal).toBeGreaterThanOrEqual(LOOKS);
      },
      { ...WAIT, interval: 150 },
    );
    return state;
  };
  /** Who has what, before anybody tries to get more. */
  const prepare = async () => {
    expect(wordsOf(await asks('ours-tester', [['claimRequest', { request_id: 'held' }]]))).toEqual(['done']);
    await vi.waitFor(async () => expect((await home.task('ours-planned')).status?.owner).toBe('ours-coder'), WAIT);
    const turns = await asks('ours-coder', [
      ['claimRequest', { request_id: 'again' }],
      ['releaseTask', { task: 'again' }],
      ['claimRequest', { request_id: 'again' }],
      ['submitPlan', { task: 'planned', plan: MARKER }],
    ]);
    expect(turns.map(({ body }) => body['attempt'] ?? body['status'] ?? body['round'])).toEqual([1, 'pending', 2, 1]);
    const open = ['ours-open', 'theirs-open'];
    await vi.waitFor(async () => {
      for (const name of open) expect((await home.task(name)).status?.reason).toBe('OpenForClaim');
    }, WAIT);
    await settled();
  };

  let marks = 0;
  /** Tries all of it, and compares: the answers, the log of calls, and the world before and after. */
  const tries = async (agent: string, expected: readonly (readonly [...Call, code: string, line?: string])[]) => {
    const before = await stateOf();
    // Everything in the log before this line is of somebody else.
    const mark = `teams/ours/notes/mark-${++marks}`;
    const [, ...answers] = await asks(agent, [['vaultList', { path: mark }], ...expected.map(([verb, params]): Call => [verb, params])]);
    expect(wordsOf(answers), JSON.stringify(answers, null, 1)).toEqual(expected.map(([, , code]) => code));
    expect(JSON.stringify(answers)).not.toContain(MARKER);
    const lines = expected.flatMap(([, , code, line]) => (line === undefined ? [] : [`${line} ${code}`]));
    await vi.waitFor(() => {
      const all = linesOf(agent).filter((line) => !line.endsWith('RateLimited'));
      expect(all.slice(all.indexOf(`vault_list vault/${mark} NotFound`) + 1)).toEqual(lines);
    }, WAIT);
    expect(await stateOf()).toEqual(before);
  };

  it('is nobody else, whatever it says', async () => {
    await tries('ours-coder', [
      // The guest itself refuses these: they never reach the host.
      ['sendMessage', { to: 'tester', content: 'x', from: 'lead' }, 'Forbidden'],
      ['claimRequest', { request_id: 'open', agent: 'tester' }, 'Forbidden'],
      ['completeTask', { task: 'held', owner: 'ours-tester' }, 'Forbidden'],
      ['sendMessage', { to: 'tester', content: 'x', team: 'theirs' }, 'Invalid'],
      ['vaultRead', { path: note('theirs'), namespace: 'default' }, 'Invalid'],
      // What only the lead, people or the system may say.
      ['sendMessage', { to: 'tester', content: 'x', message_type: 'shutdown_request' }, 'Forbidden', 'send_message agent/tester'],
      ['sendMessage', { to: 'tester', content: '{}', message_type: 'task_assignment' }, 'Forbidden', 'send_message agent/tester'],
      ['sendMessage', { to: 'tester', content: 'x', message_type: 'plan_approval' }, 'Forbidden', 'send_message agent/tester'],
      ['sendMessage', { to: '*', content: 'x' }, 'Forbidden', 'send_message agent/*'],
    ]);
  });

  it('neither writes to another team nor sees its tasks and notes', async () => {
    await tries('ours-coder', [
      ['sendMessage', { to: 'theirs/coder', content: 'x' }, 'Forbidden', 'send_message agent/theirs/coder'],
      ['claimRequest', { request_id: 'theirs-open' }, 'NotFound', 'claim_request task/theirs-open'],
      ['completeTask', { task: 'theirs-open', result: 'x' }, 'NotFound', 'complete_task task/theirs-open'],
      ['updateTask', { task: 'theirs-open', note: 'x' }, 'NotFound', 'update_task task/theirs-open'],
      ['claimRequest', { request_id: '../theirs/open' }, 'NotFound', 'claim_request task/../theirs/open'],
      ['vaultRead', { path: note('theirs') }, 'NotFound', `vault_read vault/${note('theirs')}`],
      ['vaultWrite', { path: note('theirs'), content: FORGED }, 'Forbidden', `vault_write vault/${note('theirs')}`],
      ['vaultList', { path: 'teams/theirs/notes' }, 'NotFound', 'vault_list vault/teams/theirs/notes'],
    ]);
    const before = await stateOf();
    const [found, listed, agents, open] = await asks('ours-coder', [
      ['vaultSearch', { pattern: MARKER.slice(0, 5) }],
      ['vaultList', { recursive: true }],
      ['listAgents', {}],
      ['openRequests', {}],
    ]);
    expect(JSON.stringify(found?.body)).toContain(note('ours'));
    for (const answer of [found, listed, agents, open]) expect(JSON.stringify([answer?.status, answer?.body])).not.toContain('theirs');
    expect(await stateOf()).toEqual(before);
  });

  it('finds no way out of its notes', async () => {
    const at = 'teams/ours/notes';
    const paths: readonly (readonly [path: string, read: string, write: string])[] = [
      [`${at}/../../theirs/notes/secret.md`, 'Forbidden', 'Forbidden'],
      [`../state/access/admin-token`, 'Forbidden', 'Forbidden'],
      [join(home.home, 'kubeconfig'), 'Forbidden', 'Forbidden'],
      ['/etc/passwd', 'Forbidden', 'Forbidden'],
      [`${at}/link.md`, 'NotFound', 'Forbidden'],
      [`${at}/way-out/admin-token`, 'Invalid', 'Invalid'],
      [`${at}/way-out/x.md`, 'Forbidden', 'Forbidden'],
      [`${at}/%2e%2e/%2e%2e/theirs/notes/secret.md`, 'NotFound', 'done'],
      [`${at}/a\0.md`, 'Invalid', 'Invalid'],
      ['teams/ours/tasks/open.md', 'done', 'Forbidden'],
      ['teams/ours/tasks/INDEX.md', 'done', 'Forbidden'],
      ['teams/ours/cards/coder.json', 'done', 'Forbidden'],
      ['guides/mine.md', 'NotFound', 'Forbidden'],
    ];
    const reads = await asks(
      'ours-tester',
      paths.map(([path]) => ['vaultRead', { path }]),
    );
    expect(paths.map(([path], at) => [path, wordsOf(reads)[at]])).toEqual(paths.map(([path, read]) => [path, read]));
    const refused = paths.filter(([, , write]) => write !== 'done');
    await tries(
      'ours-coder',
      refused.map(([path, , write]) => ['vaultWrite', { path, content: FORGED }, write, `vault_write vault/${path}`]),
    );
    // A name that only looks like a way up is a name.
    await asks('ours-coder', [['vaultWrite', { path: `${at}/%2e%2e/x.md`, content: 'x' }]]);
    expect(readFileSync(join(home.home, 'vault', at, '%2e%2e', 'x.md'), 'utf8')).toBe('x');
    rmSync(join(home.home, 'vault', at, '%2e%2e'), { recursive: true });
  });

  it('takes no work from others, and completes nothing that is no longer its own', async () => {
    await tries('ours-coder', [
      ['completeTask', { task: 'held', result: 'mine' }, 'FenceLost', 'complete_task task/held'],
      ['updateTask', { task: 'held', status: 'failed', reason: 'x' }, 'FenceLost', 'update_task task/held'],
      ['releaseTask', { task: 'held' }, 'FenceLost', 'release_task task/held'],
      ['completeTask', { task: 'again', attempt: 1, result: 'late' }, 'FenceLost', 'complete_task task/again'],
    ]);
    const before = await stateOf();
    const [taken] = await asks('ours-coder', [['claimRequest', { request_id: 'held' }]]);
    expect(taken).toMatchObject({ status: 200, body: { claimed: false, winner: 'tester' } });
    expect(await stateOf()).toEqual(before);
  });

  it('does not allow itself what others must allow', async () => {
    const dev = { name: 'dev' };
    await tries('ours-coder', [
      ['approvePlan', { task: 'planned', approved: true }, 'Forbidden', 'approve_plan task/planned'],
      ['updateTask', { task: 'planned', status: 'in_progress' }, 'Conflict', 'update_task task/planned'],
      ['completeTask', { task: 'planned', result: 'x' }, 'Conflict', 'complete_task task/planned'],
      ['createSubTeam', { name: 'vast', roles: [dev], max_agents: 3 }, 'QuotaExceeded', 'create_sub_team team/vast'],
      ['createSubTeam', { name: 'wide', roles: [{ ...dev, count: 50 }], max_agents: 1 }, 'Invalid', 'create_sub_team team/wide'],
      ['createSubTeam', { name: 'theirs', roles: [dev] }, 'AlreadyExists', 'create_sub_team team/theirs'],
    ]);
  });

  it('has no token that opens the API, and no other guest', async () => {
    const before = await stateOf();
    const token = (await home.inside('ours-coder', 'sh', '-c', 'printf %s "$AGENTISO_AGENT_TOKEN"')).trim();
    expect(token.length).toBeGreaterThan(20);
    const api = apiClient(readKubeconfig(home.kubeconfig));
    for (const path of [`${GROUP}/teams`, '/messages', '/vault/folders', '/tokens']) {
      expect([path, (await api.call('GET', path, { token })).status]).toEqual([
        path,
        expect.toSatisfy((status) => [401, 403].includes(status)),
      ]);
    }
    api.close();
    const own = await requestsFrom(home, 'ours-coder', [
      { url: 'own:/messages', token: 'wrong' },
      { url: 'own:/messages', token: 'agent' },
    ]);
    expect(own.map(({ status }) => status)).toEqual([403, 200]);
    expect(await stateOf()).toEqual(before);
  });

  it('sends no more than its share, on however many connections, and may still do everything else', async () => {
    const journal = join(home.home, 'state', 'mail', `${(await home.agent('ours-tester')).metadata.uid}.jsonl`);
    const stored = () => readFileSync(journal, 'utf8').split('"content":"count me"').length - 1;
    // Every program has a connection of its own; sixty is more than the burst.
    const burst = Array<Call>(60).fill(['sendMessage', { to: 'tester', content: 'count me' }]);
    const answers = await asks('ours-coder', burst, true);
    const passed = answers.filter(({ status }) => status === 200).length;
    const refused = answers.filter(({ status }) => status !== 200);
    const longestSeconds = Math.max(...answers.map(({ atMs }) => atMs)) / 1_000;
    expect(passed).toBeGreaterThanOrEqual(SENT_AT_ONCE);
    expect(passed).toBeLessThanOrEqual(SENT_AT_ONCE + Math.ceil(5 * longestSeconds));
    for (const { status, body } of refused) expect([status, body]).toEqual([429, limited]);
    expect(stored()).toBe(passed);
    // However slow this machine is, some time it is too fast. Nobody gets these.
    await vi.waitFor(async () => {
      const [more, other] = await Promise.all([
        asks('ours-coder', Array<Call>(60).fill(['sendMessage', { to: 'nobody', content: 'x' }]), true),
        asks('ours-coder', [['getBudget', {}]]),
      ]);
      expect(wordsOf(other)).toEqual(['done']);
      expect(more.find(({ status }) => status === 429)?.body).toEqual(limited);
    }, WAIT);
    // One line a second says it, of whichever was refused first.
    const line = expect.stringMatching(/^send_message agent\/(?:tester|nobody) RateLimited$/);
    await vi.waitFor(() => expect(linesOf('ours-coder')).toContainEqual(line), WAIT);
    expect(wordsOf(await asks('ours-lead', [['sendMessage', { to: 'tester', content: 'of another' }]]))).toEqual(['done']);
    // The command waits by itself.
    const sent = await home.startCli('exec', 'ours-coder', '--', 'team', 'send', 'tester', 'later').result;
    expect([sent.code, sent.stderr]).toEqual([0, '']);
  });

  const limited = {
    code: 'RateLimited',
    message: LIMIT_TEXT,
    retryable: true,
    hint: expect.stringMatching(/^wait \d+ ms and call again$/),
    retry_after_ms: expect.toSatisfy((ms: number) => ms > 0 && ms <= 200),
  };
});

describe('an agent with a token of the API', () => {
  const { folder, remove } = temporaryFolder();
  const home = join(folder, 'home');
  let opened: ApiHome;
  let token: string;
  const merge = { sources: [{ agent: 'coder' }], target: { branch: 'main' }, approval: 'Required' };
  const objectsOf = (team: string) => [
    object('Team', team, { roles: [{ name: 'coder' }], budget: { maxAgents: 3 }, description: MARKER }),
    object('Agent', `${team}-coder`, { team }),
    object('Agent', `${team}-tester`, { team }),
    object('Task', `${team}-planned`, { team, planRequired: true, assignTo: 'coder', prompt: 'x' }),
    object('Merge', `${team}-merge`, { team, ...merge }),
  ];

  beforeAll(async () => {
    opened = await openApiHome(home);
    for (const team of ['ours', 'theirs']) {
      for (const each of objectsOf(team)) await asAdmin('POST', `${GROUP}/${each.kind.toLowerCase()}s`, each);
      await asAdmin('PUT', `/vault/notes/teams/${team}/notes/secret.md`, { content: MARKER });
      await asAdmin('POST', '/messages', { namespace: 'default', team, to: 'coder', content: MARKER });
      await plan(team);
    }
    token = opened.tokenOf('ours', 'coder');
  });
  afterAll(async () => {
    await opened?.close();
    remove();
  });

  const asAdmin = async (method: string, path: string, body: object) => {
    const { status, text } = await opened.api.call(method, path, { body });
    expect(status, text).toBeLessThan(300);
  };
  /** Waits for approval. */
  const plan = async (team: string) => {
    const path = `${GROUP}/tasks/${team}-planned/status`;
    const status = { phase: 'Claimed', owner: `${team}-coder`, attempt: 1, plan: { round: 1, text: 'as I like' } };
    const { status: code, text } = await opened.api.call('PATCH', path, { body: { status }, headers: MERGE_PATCH });
    expect(code, text).toBe(200);
  };

  const approval = { status: { plan: { round: 1, text: 'x', approved: true } } };
  const condition = { type: 'PlanApproved', status: 'True', reason: 'x', message: '', lastTransitionTime: '2026-01-02T03:04:05Z' };
  const message = { namespace: 'default', team: 'ours', to: 'tester', content: 'x' };
  const TRIES: readonly (readonly [what: string, method: string, path: string, body?: object])[] = [
    ['raises the budget of its team', 'PATCH', `${GROUP}/teams/ours`, { spec: { budget: { maxAgents: 99 } } }],
    ['raises it in the status', 'PATCH', `${GROUP}/teams/ours/status`, { status: { reservedAgents: 0 } }],
    ['makes a team', 'POST', `${GROUP}/teams`, object('Team', 'ours-more', { parent: 'ours', roles: [{ name: 'x' }] })],
    ['makes an agent', 'POST', `${GROUP}/agents`, object('Agent', 'ours-more', { team: 'ours' })],
    ['becomes another agent', 'PATCH', `${GROUP}/agents/ours-coder`, { spec: { team: 'theirs' } }],
    ['approves its plan', 'PATCH', `${GROUP}/tasks/ours-planned/status`, { status: { conditions: [condition] } }],
    ['approves its plan in the plan', 'PATCH', `${GROUP}/tasks/ours-planned/status`, approval],
    ['needs no plan', 'PATCH', `${GROUP}/tasks/ours-planned`, { spec: { planRequired: false } }],
    ['approves it as an operator', 'POST', '/messages/plan', { namespace: 'default', team: 'ours', task: 'planned', approved: true }],
    ['approves its own merge', 'POST', '/merges/approve', { name: 'ours-merge' }],
    ["approves another team's merge", 'POST', '/merges/approve', { name: 'theirs-merge' }],
    ['approves it in the status', 'PATCH', `${GROUP}/merges/ours-merge/status`, { status: { approval: { by: 'admin', commit: 'x' } } }],
    ['needs no approval', 'PATCH', `${GROUP}/merges/ours-merge`, { spec: { approval: 'None' } }],
    ['has a command run', 'POST', `${GROUP}/tasks`, object('Task', 'ours-run', { team: 'ours', command: 'id' })],
    ['gives others work', 'POST', `${GROUP}/tasks`, object('Task', 'ours-give', { team: 'ours', prompt: 'x', assignTo: 'tester' })],
    ['gives another team work', 'POST', `${GROUP}/tasks`, object('Task', 'theirs-give', { team: 'theirs', prompt: 'x' })],
    ['reads all mail', 'GET', '/messages'],
    ["reads another's mail", 'GET', '/messages?team=theirs&inbox=coder'],
    ['follows the mail', 'GET', '/messages/follow'],
    ['writes as the people', 'POST', '/messages', message],
    ["acknowledges another's mail", 'POST', '/messages/ack', { ...message, inbox: 'tester', messageIds: ['x'] }],
    ['reads notes as people do', 'GET', '/vault/notes/teams/theirs/notes/secret.md'],
    ['searches all notes', 'GET', '/vault/search?pattern=x'],
    ['writes a note', 'PUT', '/vault/notes/teams/ours/notes/secret.md', { content: 'x' }],
    ['writes a generated file', 'PUT', '/vault/notes/teams/ours/tasks/planned.md', { content: 'x' }],
    ['leaves the vault', 'GET', '/vault/notes/%2e%2e/state/access/admin-token'],
    ['makes a token', 'POST', '/tokens', { user: 'me', role: 'admin' }],
    ['looks at tokens', 'GET', '/tokens'],
    ["sees another team's task", 'GET', `${GROUP}/tasks/theirs-planned`],
    ["sees another team's team", 'GET', `${GROUP}/teams/theirs`],
    ["runs a command in another's workspace", 'POST', '/api/v1/namespaces/default/pods/ours-tester/exec?command=id&stdout=true'],
    ['removes a task', 'DELETE', `${GROUP}/tasks/ours-planned`],
  ];

  /** The version of the newest change to anything, and all that is on disk but the journal of it. */
  const stateOf = async () => {
    await opened.settled();
    const { resourceVersion } = await opened.client.list('Team');
    return [resourceVersion, ...['resources', 'vault', 'state/mail', 'state/access'].map((folder) => hashesOf(join(home, folder)))];
  };

  for (const [what, method, path, body] of TRIES) {
    it(`is refused when it ${what}`, async () => {
      const before = await stateOf();
      const headers = method === 'PATCH' ? MERGE_PATCH : {};
      const { status, text } = await opened.api.call(method, path, { token, headers, ...(body && { body }) });
      expect([403, 404], text).toContain(status);
      expect(text).not.toContain(MARKER);
      expect(await stateOf()).toEqual(before);
    });
  }
});

const MERGE_PATCH = { 'Content-Type': 'application/merge-patch+json' };

function object(kind: string, name: string, spec: object) {
  return { apiVersion: 'agentiso.dev/v1alpha1', kind, metadata: { name }, spec };
}
