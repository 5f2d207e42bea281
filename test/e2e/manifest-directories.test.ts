/** Directories of manifests that a person owns, followed by the real program: what is checked in is what there is, and nothing is written back. */
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import type { Task } from '#api/types.ts';
import { type CliRun, inTemporaryFolder, runCli, startCli } from '../support/cli.ts';

const WAIT = { timeout: 20_000, interval: 20 };

function task(name: string, title = 'first', more = ''): string {
  return `apiVersion: agentiso.dev/v1alpha1\nkind: Task\nmetadata:\n  name: ${name}\n${more}spec:\n  team: nobody\n  command: "true"\n  title: ${title}\n`;
}

interface SeenEvent {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly count: number;
  readonly involvedObject: { readonly kind: string; readonly name: string };
}

/** A daemon with two directories: `main`, where things happen, and `beat`, which tells that time has passed. */
class Site {
  readonly #folder: string;
  #run: CliRun | undefined;
  #beats = 0;

  constructor(folder: string) {
    this.#folder = folder;
    for (const name of ['main', 'beat']) mkdirSync(join(folder, name));
    this.write('beat/always.yaml', '# keeps the directory from being empty\n');
  }

  get home(): string {
    return join(this.#folder, 'home');
  }

  path(name: string): string {
    return join(this.#folder, name);
  }

  write(name: string, text: string): void {
    mkdirSync(dirname(this.path(name)), { recursive: true });
    writeFileSync(this.path(name), text);
  }

  async serve(...names: readonly string[]): Promise<void> {
    const watched = ['main', 'beat', ...names].flatMap((name) => ['--watch', this.path(name)]);
    this.#run = startCli(['serve', '--home', this.home, '--log-level', 'error', ...watched]);
    await this.#run.said('agentiso ready');
  }

  async stop(): Promise<void> {
    this.#run?.child.kill('SIGTERM');
    const ended = await this.#run?.result;
    this.#run = undefined;
    if (ended) expect([ended.code, ended.stderr]).toEqual([0, '']);
  }

  kill(): void {
    this.#run?.child.kill('SIGKILL');
  }

  read(name: string, namespace = 'default'): Task | undefined {
    const path = join(this.home, 'resources', 'tasks', namespace, `${name}.yaml`);
    return existsSync(path) ? (parse(readFileSync(path, 'utf8')) as Task) : undefined;
  }

  /** Resolves with the uid: another uid is another object. */
  async has(name: string, title = 'first', namespace = 'default'): Promise<string> {
    return vi.waitFor(() => {
      const found = this.read(name, namespace);
      expect(found?.spec.title, name).toBe(title);
      return found?.metadata.uid ?? '';
    }, WAIT);
  }

  async isGone(name: string, namespace = 'default'): Promise<void> {
    await vi.waitFor(() => expect(this.read(name, namespace), name).toBeUndefined(), WAIT);
  }

  /** Everything that was to see before has been seen, twice, with the time between that a removal needs to be believed. */
  async beat(): Promise<void> {
    const name = `beat-${++this.#beats}`;
    this.write(`beat/${name}.yaml`, task(name));
    await this.has(name);
    unlinkSync(this.path(`beat/${name}.yaml`));
    await this.isGone(name);
  }

  async events(reason: string): Promise<readonly SeenEvent[]> {
    const { code, stdout, stderr } = await runCli(['get', 'events', '-A', '-o', 'json', '--home', this.home]);
    expect([code, stderr]).toEqual([0, '']);
    const { items } = JSON.parse(stdout) as { items: SeenEvent[] };
    return items.filter((event) => event.reason === reason);
  }

  async event(reason: string): Promise<SeenEvent> {
    return vi.waitFor(async () => (await this.events(reason))[0] ?? expect.fail(`no event ${reason} yet`), {
      timeout: 20_000,
      interval: 200,
    });
  }

  async cli(...args: readonly string[]): Promise<void> {
    const { code, stderr } = await runCli([...args, '--home', this.home]);
    expect([code, stderr]).toEqual([0, '']);
  }
}

function inSite(work: (site: Site) => Promise<void>): Promise<void> {
  return inTemporaryFolder(async (folder) => {
    const site = new Site(folder);
    try {
      await work(site);
      await site.stop();
    } finally {
      site.kill();
    }
  });
}

/** Every file below a folder with its bytes and times. */
function fingerprint(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return Object.fromEntries(
    ['.', ...names].map((name) => {
      const path = join(folder, name);
      const { mtimeMs, ctimeMs, ino, mode } = statSync(path);
      return [name, [mtimeMs, ctimeMs, ino, mode, statSync(path).isFile() ? readFileSync(path, 'base64') : ''].join()];
    }),
  );
}

describe('agentiso serve --watch', () => {
  it('applies every document of every file, in sub-folders and new namespaces, and skips what begins with a dot', async () => {
    await inSite(async (site) => {
      site.write('main/two.yaml', `${task('one')}---\n${task('two', 'first', '  namespace: elsewhere\n')}`);
      site.write('main/deep/er/three.yml', task('three'));
      site.write('main/.hidden/four.yaml', task('four'));
      site.write('main/notes.txt', 'no manifest');
      await site.serve();
      await site.has('one');
      await site.has('two', 'first', 'elsewhere');
      await site.has('three');
      site.write('main/later/five.yaml', task('five'));
      await site.has('five');
      site.write('main/later/six.yaml', task('six'));
      await site.has('six');
      await site.beat();
      expect(site.read('four')).toBeUndefined();
      await site.cli('get', 'namespace', 'elsewhere');
    });
  });

  it('follows edits, renames and removals, also of single documents and whole folders', async () => {
    await inSite(async (site) => {
      site.write('main/a.yaml', `${task('one')}---\n${task('two')}`);
      site.write('main/b/c.yaml', task('three'));
      site.write('main/stays.yaml', task('four'));
      await site.serve();
      const uid = await site.has('one');
      site.write('main/a.yaml', `${task('one', 'second')}---\n${task('two')}`);
      expect(await site.has('one', 'second')).toBe(uid);
      renameSync(site.path('main/a.yaml'), site.path('main/z.yaml'));
      await site.beat();
      expect(await site.has('one', 'second')).toBe(uid);
      site.write('main/z.yaml', task('one', 'third'));
      await site.isGone('two');
      expect(await site.has('one', 'third')).toBe(uid);
      rmSync(site.path('main/b'), { recursive: true });
      await site.isGone('three');
      unlinkSync(site.path('main/z.yaml'));
      await site.isGone('one');
      await vi.waitFor(
        async () =>
          expect((await site.events('Pruned')).map(({ message }) => message)).toContain(
            `no manifest in ${site.path('main')} declares it any more`,
          ),
        WAIT,
      );
      expect(site.read('four')).toBeDefined();
    });
  });

  it('removes fields that a manifest no longer sets, and leaves alone what others have set', async () => {
    await inSite(async (site) => {
      site.write('main/a.yaml', task('one', 'first', '  labels: {from: git}\n'));
      await site.serve();
      await site.has('one');
      await site.cli('label', 'task', 'one', 'by=hand');
      site.write('main/a.yaml', task('one', 'second'));
      await site.has('one', 'second');
      expect(site.read('one')?.metadata.labels).toEqual({ by: 'hand' });
    });
  });

  it('keeps everything while a file is saved half, and converges with the rest of the save', async () => {
    await inSite(async (site) => {
      const whole = `${task('one', 'second')}---\n${task('two', 'second')}`;
      site.write('main/a.yaml', whole.replaceAll('second', 'first'));
      await site.serve();
      const uids = [await site.has('one'), await site.has('two')];
      site.write('main/a.yaml', '');
      await site.beat();
      for (const end of [whole.indexOf('title: second') + 3, whole.lastIndexOf('metadata') + 4]) {
        site.write('main/a.yaml', whole.slice(0, end));
        await site.beat();
        expect([site.read('one')?.spec.title, site.read('two')?.spec.title]).toEqual(['first', 'first']);
      }
      site.write('main/a.yaml', whole);
      expect([await site.has('one', 'second'), await site.has('two', 'second')]).toEqual(uids);
    });
  });

  it('keeps the last good state of a file that is wrong, says which line is, and goes on when it is right again', async () => {
    await inSite(async (site) => {
      site.write('main/a.yaml', `${task('one')}---\n${task('two')}`);
      site.write('main/b.yaml', task('three'));
      await site.serve();
      const uid = await site.has('two');
      site.write('main/a.yaml', `${task('one', 'second')}---\n${task('two', 'second').replace('title', 'titel')}`);
      const { type, message, involvedObject } = await site.event('InvalidManifest');
      expect(type).toBe('Warning');
      expect(message).toMatch(/main\/a\.yaml:17:\d+: .*titel/);
      expect(involvedObject).toMatchObject({ kind: 'Task', name: 'two' });
      await site.beat();
      expect([site.read('one')?.spec.title, site.read('two')?.spec.title]).toEqual(['first', 'first']);
      site.write('main/a.yaml', 'kind: [Task\n');
      await site.beat();
      await vi.waitFor(
        async () => expect((await site.events('InvalidManifest')).map((event) => event.involvedObject.name)).toContain('a-yaml'),
        WAIT,
      );
      expect(site.read('one')?.spec.title).toBe('first');
      site.write('main/a.yaml', task('two', 'third'));
      expect(await site.has('two', 'third')).toBe(uid);
      await site.isGone('one');
      expect((await site.events('InvalidManifest')).map(({ count }) => count)).toEqual([1, 1]);
    });
  });

  it('prunes nothing at a start with a file that cannot be read, because the missing object may be in it', async () => {
    await inSite(async (site) => {
      site.write('main/a.yaml', task('one'));
      site.write('main/b.yaml', task('two'));
      await site.serve();
      const uid = await site.has('one');
      await site.has('two');
      await site.stop();
      site.write('main/a.yaml', 'kind: [Task\n');
      await site.serve();
      await site.beat();
      expect(site.read('one')?.metadata.uid).toBe(uid);
      unlinkSync(site.path('main/a.yaml'));
      await site.isGone('one');
      expect(site.read('two')).toBeDefined();
    });
  });

  it('leaves an object of two files with the first, and gives it to the other when the first lets go', async () => {
    await inSite(async (site) => {
      site.write('main/m.yaml', task('one', 'first'));
      await site.serve();
      const uid = await site.has('one');
      site.write('main/a.yaml', task('one', 'second'));
      const { message, involvedObject } = await site.event('DuplicateResource');
      expect(message).toContain(`${site.path('main/a.yaml')}:2: Task default/one is already declared at ${site.path('main/m.yaml')}:2`);
      expect(involvedObject).toMatchObject({ kind: 'Task', name: 'one' });
      await site.beat();
      expect(site.read('one')?.spec.title).toBe('first');
      unlinkSync(site.path('main/m.yaml'));
      expect(await site.has('one', 'second')).toBe(uid);
    });
  });

  it('refuses a link that leads out of the directory, and follows one that stays inside', async () => {
    await inSite(async (site) => {
      site.write('outside/one.yaml', task('one'));
      site.write('main/.data/two.yaml', task('two'));
      symlinkSync(site.path('outside/one.yaml'), site.path('main/one.yaml'));
      symlinkSync('.data/two.yaml', site.path('main/two.yaml'));
      await site.serve();
      await site.has('two');
      expect((await site.event('ManifestRefused')).message).toContain(`${site.path('main/one.yaml')}: the link leads out of the directory`);
      symlinkSync(site.path('outside'), site.path('main/folder'));
      await site.beat();
      expect(site.read('one')).toBeUndefined();
      expect(await site.events('ManifestRefused')).toHaveLength(2);
    });
  });

  it('prunes after a restart what disappeared while nobody looked, and keeps what is not its own', async () => {
    await inSite(async (site) => {
      site.write('main/a.yaml', task('one'));
      site.write('main/b.yaml', task('two'));
      site.write('by-hand.yaml', task('three'));
      await site.serve();
      const uid = await site.has('two');
      await site.has('one');
      await site.cli('apply', '-f', site.path('by-hand.yaml'));
      await site.stop();
      unlinkSync(site.path('main/a.yaml'));
      await site.serve();
      await site.isGone('one');
      await site.beat();
      expect(await site.has('two')).toBe(uid);
      await site.has('three');
    });
  });

  it('keeps everything of a directory that vanished, and goes on when it is back', async () => {
    await inSite(async (site) => {
      site.write('main/a.yaml', task('one'));
      await site.serve();
      const uid = await site.has('one');
      renameSync(site.path('main'), site.path('away'));
      expect((await site.event('ManifestsUnavailable')).message).toContain(site.path('main'));
      await site.beat();
      // What an unmounted volume leaves behind.
      mkdirSync(site.path('main'));
      await vi.waitFor(async () => expect(await site.events('ManifestsUnavailable')).toHaveLength(2), { timeout: 20_000, interval: 200 });
      await site.beat();
      expect(await site.has('one')).toBe(uid);
      rmSync(site.path('main'), { recursive: true });
      renameSync(site.path('away'), site.path('main'));
      site.write('main/a.yaml', task('one', 'second'));
      expect(await site.has('one', 'second')).toBe(uid);
    });
  });

  it('prunes the last object when the last manifest was removed', async () => {
    await inSite(async (site) => {
      site.write('main/a.yaml', task('one'));
      await site.serve();
      await site.has('one');
      unlinkSync(site.path('main/a.yaml'));
      await site.isGone('one');
    });
  });

  it('brings back what was deleted by hand, and puts right what was changed by hand', async () => {
    await inSite(async (site) => {
      site.write('main/a.yaml', task('one'));
      await site.serve();
      const uid = await site.has('one');
      await site.cli('delete', 'task', 'one', '--wait=false');
      await vi.waitFor(() => expect(site.read('one')?.metadata.uid ?? uid).not.toBe(uid), WAIT);
      await site.has('one');
      // Changed and changed back are two generations.
      const isPutRight = (generation: number) =>
        vi.waitFor(() => {
          const found = site.read('one');
          expect([found?.spec.title, found?.metadata.generation]).toEqual(['first', generation]);
        }, WAIT);
      await site.cli('patch', 'task', 'one', '--type', 'merge', '-p', '{"spec":{"title":"by hand"}}');
      await isPutRight(3);
      const file = join(site.home, 'resources', 'tasks', 'default', 'one.yaml');
      writeFileSync(file, readFileSync(file, 'utf8').replace('title: first', 'title: edited'));
      await isPutRight(5);
    });
  });

  it('lets a namespace end that was deleted by hand, and brings it back with what is declared in it', async () => {
    await inSite(async (site) => {
      site.write('main/a.yaml', task('one', 'first', '  namespace: elsewhere\n'));
      await site.serve();
      const uid = await site.has('one', 'first', 'elsewhere');
      await site.cli('delete', 'namespace', 'elsewhere', '--timeout=20s');
      await vi.waitFor(() => expect(site.read('one', 'elsewhere')?.metadata.uid ?? uid).not.toBe(uid), WAIT);
      await site.cli('get', 'namespace', 'elsewhere');
    });
  });

  it('never writes into a directory, and an unchanged one causes no writes at all', async () => {
    await inSite(async (site) => {
      site.write('main/a.yaml', `# mine\n${task('one')}---\n${task('two')}status: {phase: Succeeded}\n`);
      site.write('main/bad/b.yaml', 'kind: [Task\n');
      const before = fingerprint(site.path('main'));
      await site.serve();
      await site.has('one');
      await site.has('two');
      await site.cli('delete', 'task', 'one', '--wait=false');
      await site.beat();
      await site.has('one');
      const version = site.read('two')?.metadata.resourceVersion;
      await site.beat();
      await site.stop();
      await site.serve();
      await site.beat();
      expect(site.read('two')?.metadata.resourceVersion).toBe(version);
      expect(fingerprint(site.path('main'))).toEqual(before);
    });
  });

  it('keeps directories apart, and loses nothing that moves from one to the other, in either order', async () => {
    await inSite(async (site) => {
      site.write('main/a.yaml', `${task('one', 'first', '  labels: {from: main}\n')}---\n${task('two')}`);
      site.write('main/stays.yaml', task('three'));
      site.write('other/b.yaml', task('four'));
      await site.serve('other');
      const [one, two] = [await site.has('one'), await site.has('two')];
      await site.has('four');
      site.write('other/one.yaml', task('one', 'second'));
      await site.event('DuplicateResource');
      site.write('main/a.yaml', task('two'));
      expect(await site.has('one', 'second')).toBe(one);
      await vi.waitFor(() => expect(site.read('one')?.metadata.labels).toBeUndefined(), WAIT);
      renameSync(site.path('main/a.yaml'), site.path('other/two.yaml'));
      await site.beat();
      expect(await site.has('two')).toBe(two);
      unlinkSync(site.path('other/two.yaml'));
      await site.isGone('two');
      expect(site.read('three')).toBeDefined();
      expect(site.read('four')).toBeDefined();
    });
  });

  it('prunes nothing while git changes the check-out, and what git removed afterwards', async () => {
    await inSite(async (site) => {
      const git = (...args: readonly string[]) =>
        execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', '-C', site.path('main'), ...args], { stdio: 'pipe' });
      site.write('main/tasks/a.yaml', task('one'));
      git('init', '-q', '-b', 'trunk');
      git('add', '.');
      git('commit', '-qm', 'one');
      await site.serve();
      const uid = await site.has('one');
      site.write('main/.git/index.lock', '');
      unlinkSync(site.path('main/tasks/a.yaml'));
      site.write('main/tasks/b.yaml', task('two'));
      await site.has('two');
      await site.beat();
      expect(site.read('one')?.metadata.uid).toBe(uid);
      unlinkSync(site.path('main/.git/index.lock'));
      await site.isGone('one');
      git('checkout', '-q', '-f', 'trunk');
      await site.has('one');
      appendFileSync(site.path('main/tasks/a.yaml'), `---\n${task('three')}`);
      await site.has('three');
      git('checkout', '-q', '.');
      await site.isGone('three');
    });
  });

  const refusals: [string, (site: Site) => string, RegExp][] = [
    ['does not exist', (site) => site.path('nowhere'), /nowhere does not exist/],
    ['is a file', (site) => site.path('beat/always.yaml'), /always\.yaml is not a directory/],
    ['holds the store', (site) => site.path('.'), /cannot be followed: it holds .*home/],
    ['lies in the store', (site) => join(site.home, 'resources'), /lies in .*home/],
  ];
  it.each(refusals)('does not start with a directory that %s', async (_, directory, words) => {
    await inSite(async (site) => {
      mkdirSync(join(site.home, 'resources'), { recursive: true });
      const { code, stdout, stderr } = await runCli(['serve', '--home', site.home, '--watch', directory(site)]);
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(words);
    });
  });
});
