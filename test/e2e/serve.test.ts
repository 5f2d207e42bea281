/** The daemon on a directory: files in, agents and results out, over restarts and crashes. */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import type { Agent, Task, Team } from '#api/types.ts';
import { type CliOptions, type CliRun, inTemporaryFolder, runCli, startCli } from '../support/cli.ts';
import { processesMentioning } from '../support/processes.ts';

const WAIT = { timeout: 20_000, interval: 20 };

const TEAM = 'apiVersion: agentiso.dev/v1alpha1\nkind: Team\nmetadata:\n  name: try\nspec:\n  # one is enough\n  roles: [{name: worker}]\n';

class Home {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  async serve(options: CliOptions = {}): Promise<CliRun> {
    const run = startCli(['serve', '--home', this.folder], options);
    await run.said('agentiso ready');
    return run;
  }

  path(plural: string, name: string): string {
    return join(this.folder, 'resources', plural, 'default', `${name}.yaml`);
  }

  write(plural: string, name: string, text: string): void {
    const path = this.path(plural, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }

  read<T>(plural: string, name: string): T | undefined {
    const path = this.path(plural, name);
    return existsSync(path) ? (parse(readFileSync(path, 'utf8')) as T) : undefined;
  }

  team(): void {
    this.write('teams', 'try', TEAM);
  }

  task(name: string, command: string, more = ''): void {
    const spec = `spec: {team: try, command: ${JSON.stringify(command)}${more}}`;
    this.write('tasks', name, `apiVersion: agentiso.dev/v1alpha1\nkind: Task\nmetadata:\n  name: ${name}\n${spec}\n`);
  }

  reached(name: string, phase: string): Promise<Task> {
    return vi.waitFor(() => {
      const task = this.read<Task>('tasks', name);
      expect(task?.status?.phase, JSON.stringify(task?.status)).toBe(phase);
      return task as Task;
    }, WAIT);
  }
}

async function stop(run: CliRun): Promise<void> {
  run.child.kill('SIGTERM');
  const { code, stderr } = await run.result;
  expect([code, stderr]).toEqual([0, '']);
}

/** For a while. */
async function nothingChanges(home: Home): Promise<void> {
  let before = '';
  const look = () => {
    const now = ['top', 'mid', 'low'].map((name) => readFileSync(home.path('teams', name), 'utf8')).join();
    const isSame = now === before;
    before = now;
    expect(isSame).toBe(true);
  };
  await vi.waitFor(look, { timeout: 60_000, interval: 3_000 });
}

const inHome = (work: (home: Home) => Promise<void>) => inTemporaryFolder((folder) => work(new Home(folder)));

/** Makes something fail in a daemon with nobody there to hear it, once it is told to. */
const STRAY = `data:text/javascript,${encodeURIComponent("process.on('SIGUSR2', () => void Promise.reject(new Error('a stray failure')))")}`;

describe('agentiso serve', () => {
  it('goes on when something fails that nobody waited for, and says so', async () => {
    await inHome(async (home) => {
      const run = await home.serve({ env: { NODE_OPTIONS: `--import=${STRAY}` } });
      run.child.kill('SIGUSR2');
      await vi.waitFor(async () => {
        const { stdout } = await runCli(['events', '--home', home.folder]);
        expect(stdout).toMatch(/Warning +InternalError .*a stray failure/);
      }, WAIT);
      home.team();
      home.task('try-one', 'echo done');
      await home.reached('try-one', 'Succeeded');
      run.child.kill('SIGTERM');
      const { code, stderr } = await run.result;
      expect(code).toBe(0);
      expect(stderr).toContain('a stray failure');
      expect(stderr).toContain('something failed that nobody waited for');
    });
  });

  it('brings a team of files to life, keeps their comments, and stops without leaving anything running', async () => {
    await inHome(async (home) => {
      const run = await home.serve();
      home.team();
      home.task('try-one', 'echo done');
      const task = await home.reached('try-one', 'Succeeded');
      expect(task.status?.result?.stdout).toBe('done\n');
      await vi.waitFor(() => expect(home.read<Team>('teams', 'try')?.status?.phase).toBe('Ready'), WAIT);
      expect(readFileSync(home.path('teams', 'try'), 'utf8')).toContain('# one is enough');
      await stop(run);
      expect(processesMentioning(home.folder)).toEqual([]);
    });
  });

  it('brings agents back with their files after a stop', async () => {
    await inHome(async (home) => {
      const first = await home.serve();
      home.team();
      home.task('try-write', 'echo precious > work');
      await home.reached('try-write', 'Succeeded');
      const before = home.read<Agent>('agents', 'try-worker')?.status?.incarnation;
      await stop(first);
      const second = await home.serve();
      home.task('try-read', 'cat work');
      expect((await home.reached('try-read', 'Succeeded')).status?.result?.stdout).toBe('precious\n');
      expect(home.read<Agent>('agents', 'try-worker')?.status?.incarnation).not.toBe(before);
      await stop(second);
    });
  });

  it('after SIGKILL leaves its agents at work; the next one takes the result of the same attempt, and ends them when it is stopped', async () => {
    await inHome(async (home) => {
      const first = await home.serve();
      home.write('teams', 'try', TEAM.replace('spec:\n', 'spec:\n  isolation: {driver: process}\n'));
      home.task('try-long', `echo $$ >> ${home.folder}/attempts; until [ -e ${home.folder}/go ]; do sleep 0.05; done; echo done`);
      await home.reached('try-long', 'Running');
      await vi.waitFor(() => expect(existsSync(join(home.folder, 'attempts'))).toBe(true), WAIT);
      first.child.kill('SIGKILL');
      await first.result;
      const second = await home.serve();
      writeFileSync(join(home.folder, 'go'), '');
      const task = await home.reached('try-long', 'Succeeded');
      expect([task.status?.attempt, task.status?.result?.stdout]).toEqual([1, 'done\n']);
      expect(readFileSync(join(home.folder, 'attempts'), 'utf8').trim().split('\n')).toHaveLength(1);
      await stop(second);
      expect(processesMentioning(home.folder)).toEqual([]);
    });
  });

  it('says on the object which line of an edit was refused, and takes it back with the next good one', async () => {
    await inHome(async (home) => {
      const run = await home.serve();
      home.team();
      const rejected = () => home.read<Team>('teams', 'try')?.status?.conditions?.find(({ type }) => type === 'EditRejected');
      await vi.waitFor(() => expect(home.read<Team>('teams', 'try')?.status?.phase).toBe('Ready'), WAIT);
      const good = readFileSync(home.path('teams', 'try'), 'utf8');
      writeFileSync(home.path('teams', 'try'), good.replace('  roles:', '  rolls:'));
      const condition = await vi.waitFor(() => rejected() ?? expect.fail('not refused yet'), WAIT);
      expect(condition.message).toMatch(/^teams\/default\/try\.yaml: .*line \d+: unknown field "spec.rolls"; did you mean "roles"\?/);
      const restored = readFileSync(home.path('teams', 'try'), 'utf8');
      writeFileSync(
        home.path('teams', 'try'),
        restored.replace('# one is enough', '# one will do').replace('spec:\n', 'spec:\n  description: edited\n'),
      );
      await vi.waitFor(() => {
        expect(home.read<Team>('teams', 'try')?.spec.description).toBe('edited');
        expect(rejected()).toBeUndefined();
      }, WAIT);
      expect(readFileSync(home.path('teams', 'try'), 'utf8')).toContain('# one will do');
      await run.child.kill('SIGTERM');
      await run.result;
    });
  });

  it('keeps the beginning and the end of an output that is too long for a file', async () => {
    await inHome(async (home) => {
      const run = await home.serve();
      home.team();
      home.task('try-loud', 'echo first; seq 1 500000; echo last');
      const { status } = await home.reached('try-loud', 'Succeeded');
      expect(status?.result?.truncated).toBe(true);
      expect(status?.result?.stdout).toMatch(/^first\n1\n2\n[\s\S]*bytes left out\)\n[\s\S]*$/);
      expect(readdirSync(dirname(home.path('tasks', 'x')))).toEqual(['try-loud.yaml']);
      await stop(run);
    });
  });

  it('lets only one daemon have a directory, and names it', async () => {
    await inHome(async (home) => {
      const run = await home.serve();
      const { code, stdout, stderr } = await runCli(['serve', '--home', home.folder]);
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toContain(`another agentiso (pid ${run.child.pid}) already runs on this directory`);
      await stop(run);
    });
  });

  it('ends without a word on Ctrl-C, which reaches all that it has started, too', async () => {
    await inTemporaryFolder(async (folder) => {
      const home = new Home(join(folder, 'home'));
      const run = await home.serve({ isJob: true });
      home.team();
      await vi.waitFor(() => expect(home.read<Agent>('agents', 'try-worker')?.status?.phase).toBe('Ready'), WAIT);
      process.kill(-(run.child.pid ?? Number.NaN), 'SIGINT');
      expect(await run.result).toMatchObject({ code: 0, stderr: '' });
      expect(processesMentioning(folder)).toEqual([]);
    });
  });

  it('refuses settings that are wrong, and reads them again on SIGHUP', async () => {
    await inTemporaryFolder(async (folder) => {
      const home = new Home(join(folder, 'home'));
      mkdirSync(home.folder);
      const settings = (text: string) => writeFileSync(join(home.folder, 'config.yaml'), text);
      settings('limits: {maxAgnets: 5}\n');
      expect(await startCli(['serve', '--home', home.folder]).result).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('config.yaml: unknown key limits.maxAgnets; did you mean maxAgents?'),
      });
      settings('limits: {maxAgentsPerTeam: 2}\n');
      const run = await home.serve();
      const scaled = (count: number) => {
        writeFileSync(
          join(folder, 'team.yaml'),
          TEAM.replace('{name: worker}', `{name: worker, count: ${count}}`).replace('spec:', 'spec:\n  suspend: true'),
        );
        return runCli(['apply', '--home', home.folder, '-f', join(folder, 'team.yaml')]);
      };
      expect((await scaled(3)).stderr).toContain('2');
      expect((await scaled(2)).code).toBe(0);
      settings('limits: {maxAgentsPerTeam: many}\n');
      run.child.kill('SIGHUP');
      const events = () => runCli(['get', 'events', '--home', home.folder]);
      await vi.waitFor(async () => expect((await events()).stdout).toMatch(/ConfigInvalid .*maxAgentsPerTeam is "many"/), WAIT);
      expect((await scaled(3)).code).toBe(1);
      settings('limits: {maxAgentsPerTeam: 3}\n');
      run.child.kill('SIGHUP');
      await vi.waitFor(async () => expect((await scaled(3)).code).toBe(0), WAIT);
      run.child.kill('SIGTERM');
      expect((await run.result).code).toBe(0);
    });
  });

  it('looks at all teams again when the limits change', async () => {
    await inTemporaryFolder(async (folder) => {
      const home = new Home(join(folder, 'home'));
      const run = await home.serve();
      const team = (name: string, more: string) => {
        const spec = `spec: {suspend: true, roles: [{name: worker}], ${more}}`;
        home.write('teams', name, `apiVersion: agentiso.dev/v1alpha1\nkind: Team\nmetadata: {name: ${name}}\n${spec}\n`);
      };
      team('top', 'budget: {maxAgents: 9, maxDepth: 3}');
      team('mid', 'parent: top, budget: {maxAgents: 4, maxDepth: 3}');
      team('low', 'parent: mid, budget: {maxAgents: 1}');
      const reason = () => home.read<Team>('teams', 'low')?.status?.conditions?.find(({ type }) => type === 'Ready')?.reason;
      await vi.waitFor(() => expect(home.read<Team>('teams', 'low')?.status?.depth).toBe(2), WAIT);
      for (const [depth, becomes] of [
        [1, expect.stringMatching(/^DepthExceeded$/)],
        [2, expect.not.stringMatching(/^DepthExceeded$/)],
      ]) {
        // Otherwise what is still under way brings the next look.
        await nothingChanges(home);
        writeFileSync(join(home.folder, 'config.yaml'), `limits: {maxNestingDepth: ${depth}}\n`);
        run.child.kill('SIGHUP');
        await vi.waitFor(() => expect(reason()).toEqual(becomes), WAIT);
      }
      await stop(run);
    });
  });

  it('stops when its home is taken away, and leaves the socket of the next daemon alone', async () => {
    await inTemporaryFolder(async (folder) => {
      const home = join(folder, 'home');
      const first = startCli(['serve', '--home', home]);
      await first.said('agentiso ready');
      writeFileSync(join(folder, 'team.yaml'), TEAM);
      await runCli(['apply', '-f', join(folder, 'team.yaml'), '--home', home]);
      renameSync(home, join(folder, 'away'));
      const second = startCli(['serve', '--home', home]);
      await second.said('agentiso ready');
      const { code, stderr } = await first.result;
      expect([code, stderr]).toEqual([1, expect.stringContaining('was removed or replaced while it was in use; stopping')]);
      const teams = join(home, 'resources', 'teams', 'default');
      expect(existsSync(teams) ? readdirSync(teams) : []).toEqual([]);
      expect((await runCli(['get', 'namespaces', '--home', home, '-o', 'name'])).stdout).toBe('namespace/default\n');
      second.child.kill('SIGTERM');
      expect((await second.result).code).toBe(0);
    });
  });
});
