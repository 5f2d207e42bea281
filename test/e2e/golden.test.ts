/** Golden snapshots of teams in real sandboxes: prepared once, whatever is killed meanwhile, and what every member begins with. */
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { Agent, Snapshot } from '#api/types.ts';
import { AgentsHome, conditionOf, WAIT, withSandboxes } from '../support/agents-home.ts';
import { gitIn, makeSource } from '../support/work.ts';

withSandboxes('the golden snapshot of a team', () => {
  const home = new AgentsHome();
  let source: string;
  beforeAll(async () => {
    source = join(home.folder, 'shop');
    makeSource(source, { 'a.txt': 'one\n' });
    await home.start();
  });
  afterAll(() => home.close());

  const create = (name: string, golden: object, more: object = {}) =>
    home.create('Team', name, { isolation: { driver: 'sandbox' }, roles: [{ name: 'dev', count: 2 }], golden, ...more });
  const sh = (agent: string, script: string) => home.inside(agent, 'sh', '-c', script);
  const snapshots = async (team: string) =>
    ((await home.list('snapshots')) as Snapshot[]).filter(({ spec }) => spec.team === team && spec.golden !== undefined);
  const message = ({ status }: Agent, type: string) => status?.conditions?.find((condition) => condition.type === type)?.message ?? '';
  const workspaces = (driver = 'sandbox') => join(home.home, 'state', 'workspaces', driver);
  /** The ids of workspaces that are being prepared, or should not be there any more. */
  const scratches = (driver?: string) => readdirSync(workspaces(driver)).filter((name) => name.startsWith('verify-'));
  const kept = (uid: string, driver?: string) => existsSync(join(workspaces(driver), '.snapshots', uid));
  /** Waits until the command in the scratch waits itself. */
  const atWork = (before: readonly string[] = []) =>
    vi.waitFor(() => {
      const [id] = scratches().filter((name) => !before.includes(name) && existsSync(join(workspaces(), name, 'workspace', 'waiting')));
      if (id === undefined) throw new Error('nothing is prepared');
      return id;
    }, WAIT);
  const letGo = (id: string) => writeFileSync(join(workspaces(), id, 'workspace', 'go'), '');
  const HOLD = 'touch waiting; until [ -e go ]; do sleep 0.05; done';

  it('is prepared once, also when the daemon is killed in the middle, and members wait for it', async () => {
    await create('slow', { setupCommands: [HOLD, 'head -c 8 /dev/urandom | od -An -tx1 > stamp; echo kept > ~/note', 'rm waiting go'] });
    const first = await atWork();
    const members = ['slow-dev-1', 'slow-dev-2'];
    for (const name of members) expect(conditionOf(await home.agent(name), 'WorkspaceReady')).toBe('False GoldenPreparing');
    const { stdout } = await home.cli('why', 'team/slow');
    expect(stdout).toMatch(/team\/slow[\s\S]*agent\/slow-dev-1[\s\S]*snapshot\/slow-golden-[0-9a-f]{8}/);
    await home.kill();
    await home.start();
    const second = await atWork([first]);
    await vi.waitFor(() => expect(scratches()).toEqual([second]), WAIT);
    letGo(second);
    const ready = await home.ready(members);
    const [snapshot] = await snapshots('slow');
    expect(snapshot?.status).toMatchObject({ phase: 'Ready', driver: 'sandbox', bytes: expect.any(Number) });
    for (const { status } of ready) expect(status?.source).toEqual({ snapshot: snapshot?.metadata.name });
    const seen = await Promise.all(members.map((name) => sh(name, 'cat stamp ~/note; ls')));
    expect(seen[0]).toMatch(/kept\nstamp\n$/);
    expect(seen[1]).toBe(seen[0]);
    // Each has its own from then on.
    await sh('slow-dev-1', 'echo mine > stamp');
    expect(await sh('slow-dev-2', 'cat stamp ~/note; ls')).toBe(seen[1]);
    expect(scratches()).toEqual([]);
    expect(readdirSync(join(home.home, 'state', 'golden-preparations'))).toEqual([]);
    // One that comes later begins with the same, without another preparation.
    await home.change('teams', 'slow', { roles: [{ name: 'dev', count: 3 }] });
    await home.ready(['slow-dev-3']);
    expect(await sh('slow-dev-3', 'cat stamp ~/note; ls')).toBe(seen[1]);
    expect((await snapshots('slow')).map(({ metadata }) => metadata.uid)).toEqual([snapshot?.metadata.uid]);
    expect(await home.events('GoldenPrepared')).toMatchObject([{ involvedObject: { kind: 'Team', name: 'slow' } }]);
  });

  it('says which command has failed, does not try it again by itself, and another golden takes its place', async () => {
    const broken = 'echo first; echo the reason >&2; exit 3';
    await create('broken', { setupCommands: ['echo fine', broken, 'echo never'] });
    const failed = () =>
      vi.waitFor(async () => {
        const agent = await home.agent('broken-dev-1');
        expect(conditionOf(agent, 'WorkspaceReady')).toBe('False GoldenFailed');
        return message(agent, 'WorkspaceReady');
      }, WAIT);
    expect(await failed()).toContain(`${broken} ended with 3; it said last: first\nthe reason`);
    const [before] = await snapshots('broken');
    expect(before?.status?.phase).toBe('Failed');
    const { stdout } = await home.cli('why', 'agent/broken-dev-2');
    expect(stdout).toMatch(/GoldenFailed[\s\S]*ended with 3[\s\S]*agentiso delete snapshot broken-golden-/);
    expect(await home.events('GoldenFailed')).toEqual(
      expect.arrayContaining([expect.objectContaining({ involvedObject: expect.objectContaining({ kind: 'Team', name: 'broken' }) })]),
    );
    await home.stop();
    await home.start();
    await failed();
    expect((await snapshots('broken')).map(({ metadata }) => metadata.uid)).toEqual([before?.metadata.uid]);
    // Deleted by a person it is tried once more, and fails again.
    await home.delete('snapshots', before?.metadata.name ?? '');
    await vi.waitFor(async () => {
      const [again] = await snapshots('broken');
      expect([again?.metadata.uid === before?.metadata.uid, again?.status?.phase]).toEqual([false, 'Failed']);
    }, WAIT);
    await home.change('teams', 'broken', { golden: { setupCommands: ['echo mended > f'] } });
    await home.ready(['broken-dev-1', 'broken-dev-2']);
    expect(await sh('broken-dev-2', 'cat f')).toBe('mended\n');
    await vi.waitFor(async () => expect((await snapshots('broken')).map(({ status }) => status?.phase)).toEqual(['Ready']), WAIT);
    // A golden that changes later is for those that come later; what was kept before goes.
    const [old] = await snapshots('broken');
    await home.change('teams', 'broken', { golden: { setupCommands: ['echo newer > f'] }, roles: [{ name: 'dev', count: 3 }] });
    await home.ready(['broken-dev-3']);
    expect([await sh('broken-dev-3', 'cat f'), await sh('broken-dev-1', 'cat f')]).toEqual(['newer\n', 'mended\n']);
    await vi.waitFor(() => expect(kept(old?.metadata.uid ?? '')).toBe(false), WAIT);
    expect((await snapshots('broken')).map(({ metadata }) => metadata.name)).not.toContain(old?.metadata.name);
  });

  it('has the repository of golden.gitUrl, or that of the team, in it, and gets out only where it may', async () => {
    // Names of this machine are refused by the proxy; that it answers at all is the way out.
    const ask = `node -e "const s=require('net').connect(3128,'127.0.0.1',()=>s.write('CONNECT localhost:443 HTTP/1.1\\r\\nHost: localhost:443\\r\\n\\r\\n'));s.on('data',d=>{console.log(String(d).split(' ')[1]);s.destroy()}).on('error',e=>console.log(e.code))" > proxy`;
    await create('cloned', { gitUrl: `file://${source}`, setupCommands: ['git log --format=%s > log', ask] });
    await create('online', { allowInternet: true, setupCommands: [ask] });
    await create('based', { setupCommands: ['echo built > built'] }, { repo: { path: source } });
    await home.ready(['cloned-dev-1', 'online-dev-2', 'based-dev-1', 'based-dev-2']);
    expect(
      await sh('cloned-dev-1', 'cat a.txt proxy; git rev-parse --abbrev-ref HEAD; git remote get-url origin; git status --porcelain'),
    ).toBe(`one\nECONNREFUSED\nmain\nfile://${source}\n?? log\n?? proxy\n`);
    expect(await sh('online-dev-2', 'cat proxy')).toBe('403\n');
    const head = gitIn(source, 'rev-parse', 'HEAD').trim();
    expect(await sh('based-dev-2', 'cat a.txt built; git rev-parse --abbrev-ref HEAD')).toBe('one\nbuilt\nagents/based/dev-2\n');
    expect((await home.agent('based-dev-2')).status?.git).toMatchObject({ forkBase: head, branch: 'agents/based/dev-2' });
    expect(readdirSync(join(home.home, 'repos')).filter((name) => name.startsWith('golden-'))).toEqual([]);
  });

  it('is that of another agent where the team says so, which may come later', async () => {
    await home.create('Team', 'lab', { isolation: { driver: 'sandbox' }, roles: [{ name: 'ann' }] });
    await create('taker', { from: 'lab/ann', snapshot: 'first' });
    await home.ready(['lab-ann']);
    await vi.waitFor(
      async () => expect(conditionOf(await home.agent('taker-dev-1'), 'WorkspaceReady')).toBe('False SnapshotNotFound'),
      WAIT,
    );
    expect((await home.cli('why', 'agent/taker-dev-1')).stdout).toMatch(
      /no snapshot first of agent lab\/ann[\s\S]*agentiso edit team taker/,
    );
    await sh('lab-ann', 'mkdir d; echo hers > d/f; echo hers > ~/note');
    await home.create('Snapshot', 'lab-ann-first', { team: 'lab', agent: 'lab-ann' });
    const [taker] = await home.ready(['taker-dev-1', 'taker-dev-2']);
    expect(taker?.status?.source).toEqual({ agent: 'lab-ann', snapshot: 'lab-ann-first' });
    // Teams are users of their own: the files are the taker's now.
    expect(await sh('taker-dev-1', 'cat d/f ~/note; echo more >> d/f; echo more >> ~/note; find . -not -user agent')).toBe('hers\nhers\n');
    expect(await snapshots('taker')).toEqual([]);
  });

  it('works without isolation too, and everything of it goes with its team', async () => {
    await create('plain', { setupCommands: ['echo built > built'] }, { isolation: { driver: 'process' } });
    await home.ready(['plain-dev-1']);
    expect(await sh('plain-dev-1', 'cat built')).toBe('built\n');
    const mine = [...(await snapshots('plain')), ...(await snapshots('slow'))].map(({ metadata }) => metadata.uid);
    expect(mine.map((uid) => kept(uid, 'process') || kept(uid))).toEqual([true, true]);
    for (const team of ['plain', 'slow']) await home.delete('teams', team);
    await vi.waitFor(async () => expect((await home.list('teams')).map(({ metadata }) => metadata.name)).not.toContain('slow'), WAIT);
    await vi.waitFor(async () => expect([...(await snapshots('plain')), ...(await snapshots('slow'))]).toEqual([]), WAIT);
    expect(mine.filter((uid) => kept(uid, 'process') || kept(uid))).toEqual([]);
    expect([...scratches(), ...scratches('process')]).toEqual([]);
  });

  it('that cannot be is refused in one line', async () => {
    const refused = async (golden: object, more: object = {}) => {
      const spec = { roles: [{ name: 'dev' }], golden, ...more };
      const document = { apiVersion: 'agentiso.dev/v1alpha1', kind: 'Team', metadata: { name: 'no' }, spec };
      const path = join(home.folder, 'no.json');
      writeFileSync(path, JSON.stringify(document));
      const { code, stderr } = await home.cli('apply', '-f', path);
      expect(code).toBe(1);
      return stderr;
    };
    expect(await refused({ from: 'lab/ann', setupCommands: ['true'] })).toMatch(/setupCommands.*with from nothing is prepared/);
    expect(await refused({ gitUrl: `file://${source}` }, { repo: { path: source } })).toMatch(/gitUrl.*leave one of them out/);
    expect(await refused({ snapshot: 'x'.repeat(60) })).toMatch(/snapshot.*over 63 characters/);
    expect(await refused({ allowInternet: true }, { parent: 'lab' })).toMatch(/golden\.allowInternet.*team lab has false/);
  });
});
