/** kill -9 at random points of merging: the target is as it was or complete, a new process finishes, and nothing is left over. */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { seededRandom } from '../bench/harness/random.ts';
import { inTemporaryFolder } from '../support/cli.ts';
import type { WantedMerge } from '../support/merge-worker.ts';
import { scriptCommand } from '../support/script.ts';

const isFull = process.env['AGENTISO_SOAK'] === 'full';
const KILLS = isFull ? 40 : 5;
const SEED = Number(process.env['AGENTISO_SEED'] ?? Date.now() % 1_000_000);
const MERGES_A_ROUND = 2;
const STRATEGIES = ['sequential', 'branch-per-source', 'cherry-pick'];
const AGENTS = ['one', 'two'] as const;

class Place {
  readonly home: string;
  readonly target: string;
  readonly agents: string;
  readonly wanted: WantedMerge[] = [];

  constructor(root: string, isBare: boolean) {
    [this.home, this.target, this.agents] = [join(root, 'home'), join(root, 'target'), join(root, 'agents')];
    this.git(root, 'init', '-q', '-b', 'main', this.agents);
    this.#commit('base', 'base.txt');
    this.git(this.agents, 'tag', 'base');
    this.git(root, 'clone', '-q', ...(isBare ? ['--bare'] : []), this.agents, this.target);
  }

  git(directory: string, ...args: string[]): string {
    const who = ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.com'];
    return execFileSync('git', ['-C', directory, ...who, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
  }

  #commit(name: string, path: string): void {
    mkdirSync(join(this.agents, path, '..'), { recursive: true });
    writeFileSync(join(this.agents, path), `${name}\n`);
    this.git(this.agents, 'add', '-A');
    this.git(this.agents, 'commit', '-q', '-m', name);
  }

  /** Both agents write one file each, and what they have is to be merged, by verified and plain merges. */
  addRound(round: number): void {
    for (const agent of AGENTS) {
      this.git(this.agents, 'checkout', '-q', '-B', agent, ...(round === 0 ? ['base'] : [agent]));
      this.#commit(`round ${round} of ${agent}`, `rounds/${round}/${agent}.txt`);
    }
    for (let index = 0; index < MERGES_A_ROUND; index += 1) {
      const strategy = STRATEGIES[(round + index) % STRATEGIES.length];
      const sources = AGENTS.map((agent) => ({ agent, base: 'base' }));
      const verify = round % 2 === 0 ? { verify: ['true'] } : {};
      this.wanted.push({ name: `m-${round}-${index}`, spec: { team: 'shop', sources, target: { branch: 'main' }, strategy, ...verify } });
    }
  }

  /** Of each round both files are in the target, or none. */
  problems(rounds: number): string[] {
    const files = new Set(this.git(this.target, 'ls-tree', '-r', '--name-only', 'main').split('\n'));
    const problems: string[] = [];
    for (let round = 0; round <= rounds; round += 1) {
      const there = AGENTS.filter((agent) => files.has(`rounds/${round}/${agent}.txt`));
      if (there.length === 1) problems.push(`of round ${round} only ${there} is there`);
    }
    if (existsSync(join(this.target, '.git'))) problems.push(...this.git(this.target, 'status', '--porcelain').split('\n').filter(Boolean));
    this.git(this.target, 'fsck', '--strict', '--no-dangling');
    return problems;
  }

  /** A git that is killed in a repository of people leaves its lock there, which is for people to remove. Ours must be gone by itself. */
  removeLocks(): void {
    for (const name of readdirSync(this.target, { recursive: true })) {
      if (String(name).endsWith('.lock')) rmSync(join(this.target, String(name)));
    }
  }

  get repository(): string {
    return join(this.home, 'repos', readdirSync(join(this.home, 'repos')).find((name) => name.endsWith('.git')) ?? '');
  }
}

interface Ending {
  /** Of the whole group, with every git it has started; otherwise of the process alone. */
  readonly isGroup: boolean;
  /** After this line, so many milliseconds; never when absent. */
  readonly at?: { readonly lines: number; readonly ms: number };
  readonly isLast?: boolean;
}

async function run({ home, target, agents, wanted }: Place, { isGroup, at, isLast = false }: Ending): Promise<string[]> {
  const args = [home, target, agents, JSON.stringify(wanted), ...(isLast ? ['--delete'] : [])];
  const [command, ...rest] = scriptCommand('merge-worker.ts', args);
  const child = spawn(command, rest, { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const pid = child.pid ?? 0;
  let [lines, err] = ['', ''];
  const kill = () => {
    try {
      process.kill(isGroup ? -pid : pid, 'SIGKILL');
    } catch {
      // It has just ended by itself.
    }
  };
  let timer: NodeJS.Timeout | undefined;
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk;
  });
  child.stdout.on('data', (chunk: Buffer) => {
    lines += chunk;
    if (at && !timer && lines.split('\n').length > at.lines) timer = setTimeout(kill, at.ms);
  });
  await new Promise((resolve) => child.once('exit', resolve));
  clearTimeout(timer);
  // What it has started ends by itself, or has ended with it; nobody looks before.
  await vi.waitFor(() => expect(() => process.kill(-pid, 0)).toThrow('ESRCH'), { timeout: 30_000, interval: 5 });
  if (err !== '') throw new Error(err);
  return lines.split('\n').filter(Boolean);
}

describe.each([
  { name: 'a folder with files, the process alone killed', isBare: false },
  { name: 'a bare repository, killed with everything it has started', isBare: true },
])('merging into $name', ({ isBare }) => {
  it(`is whole or not done after each of ${KILLS} kills, and ends well (seed ${SEED})`, async () => {
    await inTemporaryFolder(async (root) => {
      const random = seededRandom(SEED + (isBare ? 1 : 0));
      const place = new Place(root, isBare);
      let kills = 0;
      for (let round = 0; kills < KILLS; round += 1) {
        place.addRound(round);
        const at = { lines: 1 + Math.floor(random() * 5), ms: random() * 400 };
        const said = await run(place, { isGroup: isBare, at });
        if (!said.includes('done')) kills += 1;
        expect(
          place.problems(round),
          `seed ${SEED}, round ${round}, killed ${at.ms} ms after line ${at.lines}\n${said.join('\n')}`,
        ).toEqual([]);
      }
      const said = await run(place, { isGroup: isBare, isLast: true });
      expect(said.at(-1)).toBe('done');
      const rounds = place.wanted.length / MERGES_A_ROUND;
      expect(place.problems(rounds)).toEqual([]);
      const files = place.git(place.target, 'ls-tree', '-r', '--name-only', 'main').split('\n');
      expect(files).toHaveLength(1 + rounds * AGENTS.length);
      const refs = place.git(place.repository, 'for-each-ref', '--format=%(refname)', 'refs/agentiso', 'refs/heads').split('\n');
      const expected = /^refs\/(agentiso\/source\/heads\/|heads\/agents\/)/;
      expect(refs.filter((ref) => !expected.test(ref))).toEqual([]);
      for (const left of ['agentiso-scratch', 'agentiso-incoming', 'worktrees']) {
        const path = join(place.repository, left);
        expect(existsSync(path) ? readdirSync(path) : [], left).toEqual([]);
      }
      expect(readdirSync(place.repository).filter((name) => name.endsWith('.lock'))).toEqual([]);
      place.git(place.repository, 'fsck', '--strict', '--no-dangling');
      console.info(`merges: ${place.wanted.length} landed, ${kills} kills, ${isBare ? 'bare' : 'with files'}, seed ${SEED}`);
    });
  });
});
