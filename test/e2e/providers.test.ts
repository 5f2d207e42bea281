/**
 * Keys of providers, with real agents: programs inside a sandbox and of a plain process use a provider on loopback that tells everybody the
 * key it was given, and afterwards the key is looked for everywhere.
 */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { makeAuthority, makeServerCertificate } from '#server/tls/certificate.ts';
import { AgentsHome, WAIT, withSandboxes } from '../support/agents-home.ts';

const KEY = 'invented-key-0123456789-of-the-file';
const VALIDITY = { notBefore: new Date(Date.now() - 60_000), notAfter: new Date(Date.now() + 3_600_000) };
const OTHER_KEY = 'invented-key-9876543210-of-the-environment';

withSandboxes('keys of providers', () => {
  const home = new AgentsHome();
  const trusted = makeAuthority(VALIDITY);
  const seen: string[] = [];
  let server: Server;
  let upstream: string;

  const configure = (baseUrl: string) => {
    const providers = `providers:\n  anthropic: { apiKey: ${KEY}, baseUrl: "${baseUrl}" }\n`;
    const prices = 'prices:\n  model-x: { input: 1, output: 10 }\n';
    const models = 'models:\n  openai: [gpt-x, gpt-y-*]\n';
    writeFileSync(join(home.home, 'credentials.yaml'), providers + prices + models, { mode: 0o600 });
  };

  beforeAll(async () => {
    server = createServer((request, response) => {
      const key = String(request.headers['x-api-key']);
      seen.push(`${request.method} ${request.url} ${key}`);
      response.writeHead(200, { 'Content-Type': 'text/event-stream', 'X-Echo': key });
      response.write(`data: you said ${key}\n\n`);
      const usage = { input_tokens: 30, output_tokens: 70 };
      response.write(`data: ${JSON.stringify({ type: 'message_start', message: { model: 'model-x', usage } })}\n\n`);
      // The second piece comes when the first was read: whoever waits for the whole answer waits for ever.
      server.once('go on', () => response.end('data: the end\n\n'));
      if (request.url !== '/v1/slow') server.emit('go on');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    upstream = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    mkdirSync(home.home, { recursive: true });
    configure(upstream);
    writeFileSync(join(home.folder, 'authority.pem'), trusted.certPem);
    await home.start(['--log-level', 'debug'], {
      OPENAI_API_KEY: OTHER_KEY,
      OPENAI_BASE_URL: `${upstream}/openai`,
      NODE_EXTRA_CA_CERTS: join(home.folder, 'authority.pem'),
    });
    await home.create('Team', 'box', {
      isolation: { driver: 'sandbox' },
      budget: { tokens: 1_000_000 },
      roles: [{ name: 'dev', provider: 'anthropic' }, { name: 'none' }],
    });
    await home.create('Team', 'bare', { isolation: { driver: 'process' }, roles: [{ name: 'dev', provider: 'anthropic' }] });
    await home.ready(['box-dev', 'box-none', 'bare-dev']);
  });
  afterAll(async () => {
    server.close();
    server.closeAllConnections();
    // What the daemon said is a part of what is searched.
    await home.close(expect.not.stringMatching(new RegExp(`${KEY}|${OTHER_KEY}`)));
  });

  const ask = (agent: string, path: string, ...more: readonly string[]) =>
    home.inside(agent, 'sh', '-c', `curl -sS --max-time 20 -w ' %{http_code}' ${more.join(' ')} "$AGENTISO_PROVIDERS_URL/${path}"`);

  it.each(['box-dev', 'bare-dev'])('arrive at the provider and nowhere else: %s', async (agent) => {
    seen.length = 0;
    const answer = await ask(agent, 'anthropic/v1/messages', '-i', '-H', "'x-api-key: placeholder'", '-d', 'question');
    expect(seen).toEqual([`POST /v1/messages ${KEY}`]);
    expect(answer).toContain(`data: you said ${'*'.repeat(KEY.length)}\n\n`);
    expect(answer).toMatch(/data: the end\n\n 200$/);
    expect(answer).not.toMatch(/x-echo/i);
  });

  it('are told of by name only: what is known, and what gives the rest', async () => {
    const listed = await home.cli('backends');
    expect(listed.stdout).toMatch(/^claude-code .* anthropic /m);
    expect(listed.stdout).toMatch(/^gemini .* no gemini /m);
    expect(listed.stdout).toContain(
      `The daemon has no credential for these. Write below providers: in ${join(home.home, 'credentials.yaml')}`,
    );
    expect(listed.stdout).toContain('  gemini: {apiKey: YOUR-KEY}   # gemini; or GEMINI_API_KEY=YOUR-KEY for agentiso serve\n');
    // That one is in the environment of the daemon, and not in ours.
    const { credentials } = JSON.parse((await home.cli('backends', '-o', 'json')).stdout);
    expect(credentials.providers).toContainEqual({ name: 'openai', variables: ['OPENAI_API_KEY'], from: 'environment' });
    const doctor = await home.cli('doctor');
    expect(doctor.stdout).toMatch(/^ok +credentials +the daemon has one for anthropic, openai; none for gemini/m);
    for (const { stdout } of [listed, doctor]) expect(stdout).not.toMatch(new RegExp(`${KEY}|${OTHER_KEY}`));
  });

  it('come with a list of models, and what is not in it is refused with those that are', async () => {
    const spec = { isolation: { driver: 'process' }, roles: [{ name: 'dev', backend: 'codex', model: 'gtp-x' }] };
    await expect(home.create('Team', 'odd', spec)).rejects.toThrow(
      /spec\.roles\[0\]\.model: Invalid value: .*gtp-x.*: provider openai has gpt-x, gpt-y-\*; did you mean gpt-x\?/,
    );
  });

  it('let an answer stream', async () => {
    const program = `fetch(process.env.AGENTISO_PROVIDERS_URL + '/anthropic/v1/slow').then(async ({ body }) => {
      for await (const piece of body) process.stdout.write(piece);
    })`;
    const running = home.startCli('exec', 'box-dev', '--', 'sh', '-c', `"$AGENTISO_NODE" -e "$0"`, program);
    await running.said('you said');
    server.emit('go on');
    expect(await running.result).toMatchObject({ code: 0, stdout: expect.stringContaining('the end') });
  });

  it('serve an agent for its own provider only', async () => {
    expect(await ask('box-dev', 'openai/v1/models')).toMatch(/may not use the provider openai: it may use anthropic.* 403$/s);
    expect(await ask('box-none', 'anthropic/v1/messages')).toMatch(/it may use none.* 403$/s);
  });

  it('are the only way there: the sandbox reaches the provider neither directly nor by its proxy', async () => {
    const directly = await home.inside('box-dev', 'sh', '-c', `curl -sS --noproxy '*' --max-time 5 ${upstream}/x 2>/dev/null; echo $?`);
    expect(directly).toBe('7\n');
    const byProxy = await home.inside('box-dev', 'sh', '-c', `curl -sS -x http://127.0.0.1:3128 --noproxy '' --max-time 5 ${upstream}/x`);
    expect(byProxy).toMatch(/agents of this team reach names, not addresses/);
  });

  it('work for tasks as for commands', async () => {
    await home.create('Task', 'ask', {
      team: 'box',
      assignee: 'dev',
      command: 'curl -sS "$AGENTISO_PROVIDERS_URL/anthropic/v1/messages"; env',
    });
    const { status } = await home.reached('ask', 'Succeeded');
    expect(status?.result?.stdout).toContain('data: the end');
  });

  it('are spent within a budget: counted as answers pass, and an attempt over it stands still until it may use more', async () => {
    const script = `ask() { curl -sS "$AGENTISO_PROVIDERS_URL/anthropic/v1/messages" >/dev/null; }
      ask; ask; while [ ! -e go ]; do sleep 0.1; done; ask; echo done`;
    const spec = { team: 'box', assignTo: 'dev', command: script, budget: { tokens: 150, usd: '1' } };
    await home.create('Task', 'spend', spec);
    const frozen = await vi.waitFor(async () => {
      const task = await home.task('spend');
      expect(task.status?.conditions).toContainEqual(expect.objectContaining({ type: 'Frozen', status: 'True' }));
      return task;
    }, WAIT);
    expect(frozen.status).toMatchObject({ phase: 'Running', budget: { used: { tokens: 200, usd: '0.00146' }, reserved: { tokens: 150 } } });
    const states = `for f in /proc/[0-9]*/stat; do sed 's/.*) //' $f 2>/dev/null | cut -c1; done | grep -c T; true`;
    expect(Number(await home.inside('box-dev', 'sh', '-c', states))).toBeGreaterThan(0);
    expect((await home.cli('why', 'task', 'spend')).stdout).toMatch(/stands still: BudgetExhausted: it has used 200 tokens/);
    const asked = seen.length;
    // Whoever is not frozen goes on.
    await home.inside('box-dev', 'touch', '/workspace/go');
    await home.change('tasks', 'spend', { budget: { tokens: 1000 } });
    const { status } = await home.reached('spend', 'Succeeded');
    expect(status).toMatchObject({ attempt: 1, budget: { used: { tokens: 300, usd: '0.00219' } }, result: { stdout: 'done\n' } });
    expect(seen.length).toBe(asked + 1);
    // The other task of this team has asked once.
    await vi.waitFor(async () => {
      const team = (await home.list('teams')).find(({ metadata }) => metadata.name === 'box');
      expect(team.status.spending).toMatchObject({ used: { tokens: 400 }, reserved: { tokens: 0 }, remaining: { tokens: 999_600 } });
    }, WAIT);
  });

  it('are spent within the budget of an agent: it is frozen with what it runs, and what why says lets it go on', async () => {
    const roles = [{ name: 'dev', provider: 'anthropic', budget: { tokens: 100 } }, { name: 'none' }];
    await home.change('teams', 'box', { roles });
    const command = 'curl -sS "$AGENTISO_PROVIDERS_URL/anthropic/v1/messages" >/dev/null; while [ ! -e on ]; do sleep 0.1; done; echo done';
    const [before] = await home.ready(['box-dev'], ({ spec }) => spec.budget?.tokens === 100);
    await home.create('Task', 'earn', { team: 'box', assignTo: 'dev', command });
    await vi.waitFor(async () => {
      const [task, agent] = [await home.task('earn'), await home.agent('box-dev')];
      expect(task.status?.conditions).toContainEqual(expect.objectContaining({ type: 'Frozen', status: 'True' }));
      expect(agent.status?.conditions).toContainEqual(expect.objectContaining({ type: 'BudgetExhausted', status: 'True' }));
    }, WAIT);
    await home.inside('box-dev', 'touch', '/workspace/on');
    const { stdout } = await home.cli('why', 'agent', 'box-dev');
    expect(stdout).toContain('agent/box-dev is frozen, with task/earn: budget.tokens is 100 tokens');
    const [, words = '', patch = ''] = /^ {2}agentiso (patch team box .*) '(.*)' --home/m.exec(stdout) ?? [];
    await home.cli(...words.split(' '), patch);
    const { status } = await home.reached('earn', 'Succeeded');
    expect(status).toMatchObject({ attempt: 1, budget: { used: { tokens: 100 } } });
    await vi.waitFor(async () => {
      const { status: after } = await home.agent('box-dev');
      expect(after?.spending).toMatchObject({ used: { tokens: 100 }, reserved: { tokens: 0 }, remaining: { tokens: 100 } });
      // The budget of an agent is no reason to begin its workspace anew.
      expect(after?.incarnation).toBe(before?.status?.incarnation);
    }, WAIT);
  });

  it('travel over TLS to a host that proves who it is, and to no other', async () => {
    const answers: string[] = [];
    for (const authority of [trusted, makeAuthority(VALIDITY)]) {
      const { keyPem, certPem } = makeServerCertificate({ authority, hosts: ['127.0.0.1'], validity: VALIDITY });
      const secure = createTlsServer({ key: keyPem, cert: certPem }, (request, response) =>
        response.end(`key ${request.headers['x-api-key'] === KEY}`),
      );
      secure.listen(0, '127.0.0.1');
      await once(secure, 'listening');
      // Read again without a restart.
      configure(`https://127.0.0.1:${(secure.address() as AddressInfo).port}`);
      answers.push(await ask('box-dev', 'anthropic/v1/models'));
      secure.close();
      secure.closeAllConnections();
    }
    expect(answers).toEqual(['key true 200', expect.stringMatching(/gave no answer \(.*\).* 502$/s)]);
  });

  it('are in no file, environment or argument of an agent', async () => {
    expect(filesWith(home.home, [KEY, OTHER_KEY])).toEqual([join(home.home, 'credentials.yaml')]);
    const look = `cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline; env; cat "$HOME"/.* 2>/dev/null; true`;
    const inside = await home.inside('box-dev', 'sh', '-c', look);
    expect(inside).toContain('AGENTISO_PROVIDERS_URL');
    for (const key of [KEY, OTHER_KEY]) expect(inside).not.toContain(key);
    // A plain process could read the daemon's own; what was given to it has none.
    const { metadata } = await home.agent('bare-dev');
    const guests = processesOf(metadata.uid);
    expect(guests.length).toBeGreaterThan(0);
    for (const text of guests) for (const key of [KEY, OTHER_KEY]) expect(text).not.toContain(key);
    expect(JSON.stringify([await home.list('tasks'), await home.agents(), await home.call('GET', '/api/v1/events')])).not.toContain(KEY);
  });
});

function filesWith(folder: string, words: readonly string[]): string[] {
  const { stdout } = spawnSync('grep', ['-rlaF', ...words.flatMap((word) => ['-e', word]), folder], { encoding: 'utf8' });
  return stdout.split('\n').filter((line) => line !== '');
}

/** Environment and arguments of each process that was started with this id, as far as they can be read. */
function processesOf(id: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^[1-9]/.test(name))
    .flatMap((pid) => {
      try {
        const text = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
        return text.includes(id) ? [text + readFileSync(`/proc/${pid}/environ`, 'utf8')] : [];
      } catch {
        return [];
      }
    });
}
