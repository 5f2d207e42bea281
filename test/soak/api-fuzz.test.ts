/**
 * Requests that nobody would send, by the thousand, as three identities at once: whatever is asked, the server answers, keeps its
 * secrets, and afterwards the store is whole. AGENTISO_SEED replays a run.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type ApiAnswer, type ApiClient, type ApiRequest, apiClient } from '../support/api-client.ts';
import { type Random, randomFrom, randomRequest } from '../support/api-fuzz.ts';
import { createTeams, MARKER, OURS, THEIRS } from '../support/api-teams.ts';
import { temporaryFolder } from '../support/daemon.ts';
import { type ServedHome, serveHome } from '../support/serve-api.ts';

const REQUESTS = process.env['AGENTISO_SOAK'] === 'full' ? 200_000 : 10_000;
const AT_ONCE = 8;
const seed = Number(process.env['AGENTISO_SEED'] ?? Date.now() % 1_000_000_000);
const LEAD = `default/${OURS}/lead`;
const CODER = `default/${OURS}/coder`;

const { folder, remove } = temporaryFolder();
const home = join(folder, 'home');
let served: ServedHome;
/** The same API on its private socket, where plain requests go a way of their own. */
let local: ApiClient;

beforeAll(async () => {
  console.log(`api fuzz: AGENTISO_SEED=${seed}`);
  served = await serveHome(home, [LEAD, CODER]);
  await createTeams(served.api);
  local = apiClient({ socketPath: join(home, 'agentiso.sock') });
});
afterAll(async () => {
  await served.end();
  local.close();
  remove();
});

interface Sent {
  readonly who: string;
  readonly method: string;
  readonly path: string;
  readonly request: ApiRequest;
}

/** Kubernetes answers these mistakes of a client in the same way, without a reason. */
const KNOWN_500 = /failed to create typed patch object|resourceVersion|strconv\.ParseUint/;

/** Why an answer is not one that may be given, if it is not. */
function problemOf({ who, method }: Sent, { status, text, headers }: ApiAnswer): string | undefined {
  if (status < 200 || status > 599) return `status ${status}`;
  if (status === 500 && method !== 'HEAD' && !KNOWN_500.test(text)) return `an internal error, ${text.slice(0, 300)}`;
  if (who !== 'admin' && who !== 'viewer' && text.includes(MARKER)) return 'another team showed';
  if (who === 'viewer' && status === 201 && !/SelfSubject\w*Review/.test(text)) return 'a viewer created something';
  if (headers['access-control-allow-origin'] !== undefined) return 'web pages are invited';
  return undefined;
}

/** How often which identity got which answer: a fuzzer that is only ever refused finds nothing. */
const answers = new Map<string, number>();

/** Nobody may make the other team's secrets over to ours, which would then rightly show. */
function isGift(method: string, path: string): boolean {
  return method !== 'GET' && method !== 'HEAD' && path.includes(THEIRS);
}

async function fuzz(random: Random, count: number): Promise<string[]> {
  const identities = {
    admin: served.server.token,
    viewer: served.token('viewer'),
    [LEAD]: served.token(LEAD),
    [CODER]: served.token(CODER),
  };
  const problems: string[] = [];
  for (let index = 0; index < count && problems.length < 10; index++) {
    const { method, path, headers, body } = randomRequest(random);
    const who = random.pick(Object.keys(identities).slice(isGift(method, path) ? 1 : 0));
    // What was deleted meanwhile is no longer a secret that could show.
    if (index % 100 === 0) await createTeams(served.api);
    const request: ApiRequest = { token: identities[who as keyof typeof identities], headers, body };
    const sent = { who, method, path, request };
    try {
      const answer = await (index % 2 === 0 ? served.api : local).call(method, path, request);
      answers.set(`${who} ${answer.status}`, (answers.get(`${who} ${answer.status}`) ?? 0) + 1);
      const problem = problemOf(sent, answer);
      if (problem) problems.push(`${problem}: ${describeSent(sent)}`);
    } catch (error) {
      // Only a connection that the server cut is an answer of its own; a server that is gone is not.
      if (served.script.child.exitCode !== null) return [...problems, `the server ended at ${describeSent(sent)}: ${error}`];
    }
  }
  return problems;
}

function describeSent({ who, method, path, request }: Sent): string {
  const body = request.body instanceof Uint8Array ? Buffer.from(request.body).toString('latin1') : String(request.body);
  return `${who} ${method} ${path} ${JSON.stringify(request.headers)} ${JSON.stringify(body.slice(0, 600))}`;
}

interface Stored {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly resourceVersion: string; readonly uid: string };
}

const KINDS = {
  teams: '/apis/agentiso.dev/v1alpha1',
  agents: '/apis/agentiso.dev/v1alpha1',
  tasks: '/apis/agentiso.dev/v1alpha1',
  merges: '/apis/agentiso.dev/v1alpha1',
  configmaps: '/api/v1',
  events: '/api/v1',
  namespaces: '/api/v1',
} as const;

/** Every object by its path, as lists show it. */
async function everything(): Promise<Map<string, Stored>> {
  const all = new Map<string, Stored>();
  for (const [plural, prefix] of Object.entries(KINDS)) {
    const answer = await served.api.call('GET', `${prefix}/${plural}`);
    expect(answer.status, answer.text).toBe(200);
    for (const object of (answer.json() as { items: Stored[] }).items) {
      const { namespace, name } = object.metadata;
      all.set(`${prefix}/${namespace ? `namespaces/${namespace}/` : ''}${plural}/${name}`, object);
    }
  }
  return all;
}

it(`gets an answer to each of ${REQUESTS} requests, and has everything in order afterwards`, async () => {
  const workers = Array.from({ length: AT_ONCE }, (_, index) => fuzz(randomFrom(seed + index), REQUESTS / AT_ONCE));
  const problems = (await Promise.all(workers)).flat();
  expect(problems, `AGENTISO_SEED=${seed}`).toEqual([]);
  expect((await served.api.call('GET', '/healthz')).text).toBe('ok');
  const reached = [
    'admin 200',
    'admin 201',
    'admin 404',
    'admin 409',
    'admin 422',
    'viewer 200',
    'viewer 403',
    `${LEAD} 200`,
    `${LEAD} 403`,
    `${CODER} 200`,
  ];
  for (const answer of reached)
    expect([answer, answers.get(answer)]).toEqual([answer, expect.toSatisfy((count: number) => count > REQUESTS / 1_000)]);

  const before = await everything();
  expect(before.size).toBeGreaterThan(20);
  for (const [path, listed] of before) {
    const got = await served.api.call('GET', path);
    expect([path, got.status]).toEqual([path, 200]);
    // Kinds that every client is compiled with do not repeat in a list what they are.
    const whole = got.json() as Record<string, unknown>;
    expect(whole).toEqual({ apiVersion: whole['apiVersion'], kind: whole['kind'], ...(listed as object) });
  }

  await served.end('SIGKILL');
  served = await serveHome(home);
  const after = await everything();
  expect([...after.keys()].sort()).toEqual([...before.keys()].sort());
  let newest = 0;
  for (const [path, object] of after) {
    expect(object).toEqual(before.get(path));
    newest = Math.max(newest, Number(object.metadata.resourceVersion));
    expectSameFile(path, object);
  }
  const created = await served.api.call('POST', '/api/v1/namespaces/default/configmaps', { body: { metadata: { generateName: 'last-' } } });
  expect(Number((created.json() as Stored).metadata.resourceVersion)).toBeGreaterThan(newest);
});

/** What people read in the files is what programs get; who set which field is kept elsewhere. */
function expectSameFile(path: string, { metadata, ...object }: Stored): void {
  const plural = path.split('/').at(-2) ?? '';
  const file = join(home, 'resources', plural, metadata.namespace ?? '', `${metadata.name}.yaml`);
  if (!existsSync(file)) {
    // Not every kind has files; those of teams do.
    expect(path).not.toContain('agentiso.dev');
    return;
  }
  const { metadata: inFile, ...rest } = parse(readFileSync(file, 'utf8')) as Stored;
  expect([path, rest]).toEqual([path, object]);
  expect([path, inFile.name, inFile.uid ?? metadata.uid]).toEqual([path, metadata.name, metadata.uid]);
}
