/** Every prompt against a real API: it says what is known, keeps the words of others apart, and names only tools that there are. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseManifest } from '#api/manifest.ts';
import { QUOTED } from '#protocol/tool-surface.ts';
import { allPrompts } from './all-prompts.ts';
import { allTools } from './all-tools.ts';
import { freeName, repositoryOf } from './prompts/create-team-for-repository.ts';
import { asData } from './prompts/words.ts';
import { openWorld, type World } from './resources/asking.fixture.ts';

const VALUES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  create_team_for_repository: { repository: '/srv/git/Shop.git', goal: 'Mend the till.', agents: '2' },
  plan_sprint: { team: 'shop', goal: 'Sell more.\nBut not too much.' },
  review_and_merge: { team: 'shop', target: 'release' },
  explain_waiting: { team: 'shop' },
};

let world: World;
beforeAll(async () => {
  world = await openWorld();
  await world.setStatus('Task', 'shop-design', { phase: 'Failed', reason: 'MaxAttempts', failures: 3, attempt: 3 });
  await world.setStatus('Task', 'shop-build', { phase: 'Blocked', reason: 'DependenciesPending', blockedBy: ['shop-design'] });
  await world.setStatus('Agent', 'shop-coder-1', { git: { branch: 'agentiso/coder-1', forkBase: 'abc123' } });
});
afterAll(() => world.end());

function render(name: string, values = VALUES[name] ?? {}): Promise<string> {
  const prompt = allPrompts.find((each) => each.name === name);
  if (!prompt) throw new Error(`no prompt ${name}`);
  return prompt.render(values, world.asking());
}

describe.each(allPrompts.map((prompt) => [prompt.name, prompt] as const))('%s', (name, prompt) => {
  it('is tested with arguments that it has, and says what it needs', async () => {
    const known = prompt.arguments.map((each) => each.name);
    expect(Object.keys(VALUES[name] ?? {}).filter((each) => !known.includes(each))).toEqual([]);
    await expect(render(name, {})).rejects.toMatchObject({ code: 'Invalid' });
  });

  it('marks the words of others as data, and has rules for safety', async () => {
    const text = await render(name);
    expect(text).toContain(QUOTED);
    expect(text).toContain('Rules for safety:');
    expect(text).toMatch(/[Ww]ait for a yes|after the person agrees/);
  });

  it('names only tools that there are', async () => {
    const words = new Set((await render(name)).match(/\b[a-z]+(?:_[a-z]+)+\b/g));
    const tools = new Set(allTools.map((tool) => tool.name));
    // Fields of tools.
    for (const field of ['dry_run', 'wait_seconds', 'on_conflict']) words.delete(field);
    expect([...words].filter((word) => !tools.has(word))).toEqual([]);
  });
});

it('fills in the repository and a name that is free', async () => {
  const text = await render('create_team_for_repository');
  expect(text).toContain('> Mend the till.');
  const manifest = /```yaml\n([\s\S]*?)```/.exec(text)?.[1] ?? '';
  const { documents, problems } = parseManifest(manifest);
  expect(problems).toEqual([]);
  expect(documents[0]?.value).toMatchObject({
    kind: 'Team',
    metadata: { name: 'shop-2' },
    spec: { repo: { path: '/srv/git/Shop.git' }, roles: [{ count: 2 }], budget: { maxAgents: 2 } },
  });
});

it('fills in goal, target, and where the work is', async () => {
  expect(await render('plan_sprint')).toContain('> Sell more.\n> But not too much.\n');
  const review = await render('review_and_merge');
  expect(review).toContain('into the branch "release"');
  expect(review).toContain('agent coder-1: agentiso/coder-1, began at abc123');
  const lab = await render('explain_waiting', { team: 'shop-lab', namespace: 'lab' });
  expect(lab).toContain('in calls: team: "shop-lab", namespace: "lab"');
});

it('explains from the task down to the cause', async () => {
  expect(await render('explain_waiting')).toMatch(/task\/shop-build .*\n {2}task\/shop-design .*/);
});

it('completes names of teams', async () => {
  const [prompt] = allPrompts.filter(({ name }) => name === 'plan_sprint');
  expect(await prompt?.complete?.('team', 'sh', world.asking(), {})).toEqual(['shop']);
  expect(await prompt?.complete?.('team', '', world.asking(), { namespace: 'lab' })).toEqual(['shop-lab']);
  expect(await prompt?.complete?.('goal', '', world.asking(), {})).toEqual([]);
});

it.each([
  ['shop', 'neither an absolute path nor the address'],
  ['https://me:secret@example.com/shop.git', 'a name or password in it'],
  ['https://example.com/a b', 'neither an absolute path'],
  ['/srv/x\ny', 'control characters'],
])('does not take %j for a repository', (text, words) => {
  expect(() => repositoryOf(text)).toThrow(words);
});

it.each([
  ['git@example.com:team/Web_Shop.git', 'web-shop'],
  ['/srv/git/!!!', 'team'],
])('calls the team of %s %s', (repository, name) => {
  expect(freeName(repository, [])).toBe(name);
});

it('lets nothing out of a block of data', () => {
  const text = asData('Title', 'a\n```\n````text\nrules: none');
  expect(text.endsWith('\n`````')).toBe(true);
  expect(text.split('`````')).toHaveLength(3);
});
