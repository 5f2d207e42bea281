/**
 * What is refused before anything is made, on a real daemon: by the API and by `agentiso apply` with a line that says what and where, and
 * the same in a file that is followed as a condition.
 */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { AgentsHome, conditionOf, WAIT } from '../support/agents-home.ts';
import { runCli } from '../support/cli.ts';
import { temporaryFolder } from '../support/daemon.ts';

const HEAD = 'apiVersion: agentiso.dev/v1alpha1\n';
const team = (name: string, spec = '') =>
  `${HEAD}kind: Team\nmetadata:\n  name: ${name}\nspec:\n  isolation: {driver: process}\n  roles: [{name: dev}]\n${spec}`;
const task = (name: string, spec = '') =>
  `${HEAD}kind: Task\nmetadata:\n  name: ${name}\nspec:\n  team: ${name.split('-')[0]}\n  command: "true"\n${spec}`;

describe('a set of documents', () => {
  const home = new AgentsHome();
  const followed = temporaryFolder();
  beforeAll(async () => {
    writeFileSync(join(followed.folder, 'keep.yaml'), '# followed\n');
    await home.start(['--watch', followed.folder]);
  });
  afterAll(async () => {
    await home.close(expect.anything());
    followed.remove();
  });

  /** Runs a command on one file, which it names `set.yaml` in what it says. */
  const on = async (command: readonly string[], ...documents: string[]) => {
    const file = join(home.folder, 'set.yaml');
    writeFileSync(file, documents.join('---\n'));
    const { code, stdout, stderr } = await (command[0] === 'validate'
      ? runCli([...command, '-f', file])
      : home.cli(...command, '-f', file));
    return { code, stdout, stderr: stderr.replaceAll(file, 'set.yaml') };
  };
  const apply = (...documents: string[]) => on(['apply'], ...documents);
  const names = async (plural: string) => (await home.list(plural)).map(({ metadata }) => metadata.name);
  const nothingStored = async () => expect([await names('teams'), await names('agents'), await names('tasks')]).toEqual([[], [], []]);
  const gone = async (...teams: string[]) => {
    for (const name of teams) await home.delete('teams', name);
    await vi.waitFor(async () => expect(await names('teams')).toEqual([]), WAIT);
    for (const name of await names('tasks')) await home.delete('tasks', name);
  };

  it('with a circle changes nothing and names its tasks, at apply and at validate', async () => {
    const documents = [team('a'), task('a-x', '  dependsOn: [z]\n'), task('a-y', '  dependsOn: [x]\n'), task('a-z', '  dependsOn: [y]\n')];
    const want = {
      code: 1,
      stdout: '',
      stderr:
        'set.yaml:16:15: spec.dependsOn[0]: Invalid value: "z": tasks that wait for each other never start: x -> z -> y -> x; remove one of these dependencies (DependencyCycle)\n',
    };
    expect(await apply(...documents)).toEqual(want);
    expect(await on(['validate'], ...documents)).toEqual(want);
    await nothingStored();
  });

  it('with an unknown dependency, parent, team or role is refused whole, each with its place', async () => {
    const { code, stdout, stderr } = await apply(
      team('a'),
      task('a-x', '  dependsOn: [y]\n  assignTo: qa\n'),
      team('sub', '  parent: nobody\n'),
      `${HEAD}kind: Agent\nmetadata: {name: one}\nspec: {team: none}\n`,
    );
    expect([code, stdout, stderr.trimEnd().split('\n')]).toEqual([
      1,
      '',
      [
        'set.yaml:16:15: spec.dependsOn[0]: Not found: "y": team a has no task of that name; did you mean "x"? (DependencyNotFound)',
        'set.yaml:17:3: spec.assignTo: Not found: "qa": team a has no agent or role of that name; its roles are dev (AssigneeNotFound)',
        'set.yaml:26:3: spec.parent: Not found: "nobody": there is no team of that name in namespace default; create it first, or leave parent out (ParentNotFound)',
        'set.yaml:31:8: spec.team: Not found: "none": there is no team of that name in namespace default; create it first (TeamNotFound)',
      ],
    ]);
    await nothingStored();
  });

  it('with one document over its budget, the cap of a team or the limit of the machine creates nothing', async () => {
    const over = async (roles: string, budget: number) =>
      apply(team('a', `  budget: {maxAgents: ${budget}}\n`).replace('[{name: dev}]', roles), task('a-x'));
    const small = 'resources: {memoryMiB: 64}';
    expect(await over(`[{name: dev, count: 3, ${small}}]`, 2)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^set.yaml:\d+:\d+: spec.roles: .*exceed budget.maxAgents/),
    });
    expect(await over(`[{name: dev, count: 21, ${small}}]`, 30)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^set.yaml:7:3: spec.roles: Forbidden: too many agents of one team: limit 20, used 0, asked 21 /),
    });
    expect(await over('[{name: dev, count: 20, resources: {memoryMiB: 8192}}]', 20)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/spec.roles: Forbidden: too many MiB of memory: limit \d+, used 0, asked 163840 /),
    });
    await nothingStored();
  });

  it('with a child beyond its parent, a grandchild, or a fifth level creates nothing, and names the ancestor', async () => {
    const child = (name: string, parent: string, maxAgents: number) =>
      team(name, `  parent: ${parent}\n  budget: {maxAgents: ${maxAgents}}\n`);
    const beyond = await apply(child('sub', 'top', 5), team('top', '  budget: {maxAgents: 5}\n'));
    expect([beyond.code, beyond.stderr]).toEqual([
      1,
      'set.yaml:9:12: spec.budget.maxAgents: Forbidden: team top has no room for the 5 agents of sub: its budget.maxAgents is 5: 1 of its own; 4 remain; ask for at most 4, or raise the budget of top (QuotaExceeded)\n',
    ]);
    const chain = [child('d', 'c', 4), child('c', 'b', 5), child('b', 'a', 6), team('a')];
    expect((await apply(child('e', 'd', 2), ...chain)).stderr).toMatch(
      /spec.parent: Forbidden: it would be at level 4; .*\(DepthExceeded\)\n$/,
    );
    await nothingStored();
    // In any order in the file, without the one too many.
    expect(await apply(...chain)).toMatchObject({ code: 0, stderr: '' });
    await home.ready(['a-dev', 'b-dev', 'c-dev', 'd-dev']);
    await expect(home.create('Team', 'e', { parent: 'd', roles: [{ name: 'x' }] })).rejects.toThrow(/at level 4.*expected 422/s);
    await expect(home.create('Team', 'b2', { parent: 'a', roles: [{ name: 'x' }], budget: { maxAgents: 4 } })).rejects.toThrow(
      /team a has no room for the 4 agents of b2: .* 1 of its own, 6 set aside for b; 3 remain.*expected 422/s,
    );
    await expect(home.change('teams', 'c', { budget: { maxAgents: 6 } })).rejects.toThrow(/team b has no room for the 6 agents of c/);
    expect(await names('teams')).toEqual(['a', 'b', 'c', 'd']);
    await gone('a');
    expect(await names('agents')).toEqual([]);
  });

  it('may add to what exists, wait for it, and is refused where the circle goes through it', async () => {
    expect(
      await apply(team('a', '  tasks: [{name: planned, command: "true"}]\n'), task('a-old', '  dependsOn: [planned]\n')),
    ).toMatchObject({ code: 0, stderr: '' });
    expect(await apply(task('a-new', '  dependsOn: [old, a-planned]\n  assignTo: dev\n'))).toMatchObject({ code: 0, stderr: '' });
    expect((await apply(task('a-old', '  dependsOn: [new]\n'))).stderr).toContain('old -> new -> old');
    expect((await apply(task('a-more', '  dependsOn: [gone]\n'))).stderr).toContain(
      'spec.dependsOn[0]: Not found: "gone": team a has no task',
    );
    expect((await apply(task('old', '').replace('team: old', 'team: a'))).stderr).toContain('Task a-old is called "old" in team a already');
    expect(await names('tasks')).toEqual(['a-new', 'a-old', 'a-planned']);
    await gone('a');
  });

  it('is compared and tried as a whole', async () => {
    const set = [team('sub', '  parent: top\n  budget: {maxAgents: 1}\n'), team('top')];
    expect(await on(['diff'], ...set)).toMatchObject({ code: 1, stderr: '' });
    expect(await on(['apply', '--dry-run=server'], ...set)).toMatchObject({ code: 0, stderr: '' });
    expect(await on(['apply', '--dry-run=server'], team('sub', '  parent: top\n'))).toMatchObject({ code: 1 });
    await nothingStored();
    expect(await on(['create'], ...set)).toMatchObject({ code: 0, stdout: expect.stringMatching(/top created\n.*sub created\n$/) });
    await home.ready(['sub-dev', 'top-dev']);
    await gone('top');
  });

  it('is stored from a directory that is followed, and its objects say what is wrong', async () => {
    const write = (name: string, text: string) => writeFileSync(join(followed.folder, name), text);
    write('lost.yaml', team('lost', '  parent: nobody\n'));
    write(
      'circle.yaml',
      [task('lost-x', '  dependsOn: [y]\n'), task('lost-y', '  dependsOn: [x]\n'), task('lost-z', '  dependsOn: [gone]\n')].join('---\n'),
    );
    write('greedy.yaml', [team('small', '  budget: {maxAgents: 2}\n'), team('greedy', '  parent: small\n')].join('---\n'));
    const ready = async (plural: string, name: string) => {
      const found = (await home.list(plural)).find(({ metadata }) => metadata.name === name);
      return plural === 'tasks' ? `${found?.status?.phase} ${found?.status?.reason}` : found && conditionOf(found, 'Ready');
    };
    await vi.waitFor(async () => {
      expect(await ready('teams', 'lost')).toBe('False ParentNotFound');
      expect(await ready('teams', 'greedy')).toBe('False QuotaExceeded');
      for (const name of ['lost-x', 'lost-y']) expect(await ready('tasks', name)).toBe('Blocked DependencyCycle');
      expect(await ready('tasks', 'lost-z')).toBe('Blocked DependencyNotFound');
    }, WAIT);
    expect(await names('agents')).toEqual(['small-dev']);
    for (const name of readdirSync(followed.folder)) writeFileSync(join(followed.folder, name), '# nothing any more\n');
    await vi.waitFor(nothingStored, WAIT);
  });

  it('edited by hand in the store is kept, and says so', async () => {
    const folder = join(home.home, 'resources', 'teams', 'default');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'hand.yaml'), team('hand', '  parent: nobody\n'));
    await vi.waitFor(async () => {
      const [found] = await home.list('teams');
      expect(found && conditionOf(found, 'Ready')).toBe('False ParentNotFound');
    }, WAIT);
    await gone('hand');
  });

  it('says priorities in words', async () => {
    expect(await apply(task('a-x', '  priority: critical\n'), task('a-y', '  priority: low\n'))).toMatchObject({ code: 0 });
    expect((await home.list('tasks')).map(({ spec }) => spec.priority)).toEqual([1, 4]);
    await gone();
  });
});
