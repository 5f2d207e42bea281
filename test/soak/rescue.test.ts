/**
 * Teams are deleted at random moments while their agents write, some of them while a merge takes what they have, and half of the time the daemon is
 * killed in the middle of it. Each writer says on its standard output, outside of every workspace, what it has put on disk: all that was said before
 * the deletion must be found afterwards, in what was rescued or in the branch that it was merged into.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { seededRandom } from '../bench/harness/random.ts';
import { AgentsHome, withSandboxes } from '../support/agents-home.ts';
import { gitIn, makeSource } from '../support/work.ts';

const ROUNDS = process.env['AGENTISO_SOAK'] === 'full' ? 40 : 6;
const SEED = Number(process.env['AGENTISO_SEED'] ?? Date.now() % 1_000_000);
const AGENTS = 2;
const LONG = { timeout: 120_000, interval: 50 };

/** New files only, so that nothing that was said is ever taken back; now and then staged, committed, stashed, in commits that only a tag or a reflog
 * knows, or in a repository of its own. */
const WRITER = `aside() { git checkout -q --detach && git add "$f" && git commit -qm "$i"; } > /dev/null 2>&1
i=0
while :; do
  case $((i % 7)) in
    3) mkdir -p "inner$i" && git init -q "inner$i" && f="inner$i/f$i" ;;
    5) mkdir -p "d$i/e" && f="d$i/e/f$i" ;;
    *) f="f$i" ;;
  esac
  printf '%s %s\\n' "$1" "$i" > "$f" && sync "$f" && echo "$i"
  if [ -e .git ]; then
    case $((i % 11)) in
      2) git add "f$i" 2> /dev/null || true ;;
      4) aside && git tag "t$i" && git checkout -q - 2> /dev/null || true ;;
      6) { git add "$f" && git commit -qm "$i"; } > /dev/null 2>&1 || true ;;
      8) aside && git checkout -q - 2> /dev/null || true ;;
      9) git stash -q -u 2> /dev/null || true ;;
    esac
  fi
  i=$((i + 1))
done`;

const blobId = (content: string) =>
  createHash('sha1')
    .update(`blob ${Buffer.byteLength(content)}\0${content}`)
    .digest('hex');

withSandboxes('what agents have written when they are deleted', () => {
  const home = new AgentsHome();
  const random = seededRandom(SEED);
  let source: string;
  beforeAll(async () => {
    process.stdout.write(`seed ${SEED} (AGENTISO_SEED)\n`);
    source = join(home.folder, 'source');
    makeSource(source, { 'readme.txt': 'read me\n' });
    await home.start();
  }, 60_000);
  afterAll(() => home.close(expect.anything()), 120_000);

  it(`is never lost, in ${ROUNDS} rounds`, async () => {
    let said = 0;
    for (let round = 0; round < ROUNDS; round++) said += await runRound(round);
    expect(said).toBeGreaterThan(ROUNDS * AGENTS);
  });

  /** How many files were looked for. */
  async function runRound(round: number): Promise<number> {
    const name = `r${round}`;
    const driver = random() < 0.7 ? 'sandbox' : 'process';
    const repo = random() < 0.7 ? { repo: { path: source } } : {};
    const { metadata } = await home.create('Team', name, { isolation: { driver }, roles: [{ name: 'w', count: AGENTS }], ...repo });
    const names = Array.from({ length: AGENTS }, (_, index) => `${name}-w-${index + 1}`);
    await vi.waitFor(() => home.ready(names), LONG);
    const logs = names.map((agent) => startWriter(agent, `${SEED}-${agent}`));
    await vi.waitFor(() => expect(Math.min(...logs.map(({ lines }) => lines().length))).toBeGreaterThan(2), LONG);
    await delay(random() * 1_000);
    if ('repo' in repo && random() < 0.5) await startMerge(name);
    const before = logs.map(({ tag, lines }) => ({ tag, lines: lines() }));
    await home.delete('teams', name);
    if (random() < 0.5) {
      await delay(random() * 500);
      await home.kill();
      await home.start();
    }
    await vi.waitFor(async () => expect((await home.list('teams')).map((team) => team.metadata.name)).not.toContain(name), LONG);
    await Promise.all(logs.map(({ ended }) => ended));
    const places = [join(home.home, 'repos', `${metadata.uid}.git`), source].filter((place) => existsSync(place));
    const known = new Set(places.flatMap((place) => reachable(place)));
    const wanted = before.flatMap(({ tag, lines }) => lines.map((line) => `${tag} ${line}\n`));
    const lost = wanted.filter((content) => !known.has(blobId(content)));
    expect(lost, `seed ${SEED}, round ${round}, ${driver}, ${JSON.stringify(repo)}: lost of ${wanted.length}`).toEqual([]);
    return wanted.length;
  }

  /** Nobody waits for it: it is under way when its team is deleted, or has landed, or never begins. */
  async function startMerge(team: string): Promise<void> {
    const spec = { team, sources: [{ agent: 'w-1' }], target: { branch: 'main' }, allowDirty: true };
    const object = { apiVersion: 'agentiso.dev/v1alpha1', kind: 'Merge', metadata: { name: `${team}-merge` }, spec };
    await home.call('POST', '/apis/agentiso.dev/v1alpha1/namespaces/default/merges', object);
    await delay(random() * 1_000);
  }

  function startWriter(agent: string, tag: string) {
    const run = home.startCli('exec', agent, '--', 'sh', '-c', WRITER, 'sh', tag);
    let text = '';
    run.child.stdout?.on('data', (chunk: string) => {
      text += chunk;
    });
    // The last line may not be whole yet.
    return { tag, lines: () => text.split('\n').slice(0, -1), ended: run.result };
  }
});

/** Everything that a ref leads to; a nested repository's own commits lie in bundles, its files beside them. */
function reachable(repository: string): string[] {
  expect(gitIn(repository, 'fsck', '--connectivity-only', '--no-dangling')).toBe('');
  const args = ['-c', 'safe.directory=*', '-C', repository, 'rev-list', '--objects', '--no-object-names', '--all'];
  return execFileSync('git', args, { encoding: 'utf8', maxBuffer: 1 << 28 }).split('\n');
}
