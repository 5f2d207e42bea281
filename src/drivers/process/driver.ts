/** The process driver: a guest agent as a plain process. Always available, isolates nothing. */
import { mkdirSync, realpathSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { execute } from '#lib/execute.ts';
import type { Logger } from '#lib/log.ts';
import { type ProcessIdentity, signalProcess } from '#lib/process-identity.ts';
import type { Driver, Usage, WorkspaceSpec } from '../driver.ts';
import { isPresent } from '../local/directories.ts';
import type { Room } from '../local/free-disk.ts';
import type { Launcher, StartCommand } from '../local/launcher.ts';
import { launchArguments } from '../local/launches.ts';
import { findLeftovers } from '../local/leftovers.ts';
import { LocalDriver } from '../local/local-driver.ts';
import { type WorkspacePaths, workspacePaths } from '../local/paths.ts';
import { readProcess, readTree } from '../local/processes.ts';
import { sumUsage } from '../local/usage.ts';

export interface ProcessDriverOptions {
  /** One directory per workspace below it. Made when missing. */
  readonly stateDir: string;
  /** The bundled guest agent. */
  readonly guestAgentPath: string;
  readonly log: Logger;
  /** The daemon's. A guest gets of it what programs need to run, and no more: there are keys in it. */
  readonly environment: (name: string) => string | undefined;
  /** Between SIGTERM and SIGKILL of a guest; longer than the guest gives its commands. */
  readonly stopGraceMs?: number;
  /** For what is kept of workspaces. Absent: all of the disk but what is left free. */
  readonly room?: Room;
}

export function processDriver({ guestAgentPath, log, environment, stopGraceMs = 5_000, ...options }: ProcessDriverOptions): Driver {
  mkdirSync(options.stateDir, { recursive: true, mode: 0o700 });
  const stateDir = realpathSync(options.stateDir);
  return new LocalDriver({
    stateDir,
    launcher: processLauncher(stateDir, guestAgentPath, environment),
    log,
    stopGraceMs,
    ...(options.room && { room: options.room }),
  });
}

function processLauncher(stateDir: string, guestAgentPath: string, environment: ProcessDriverOptions['environment']): Launcher {
  const pathsOf = (id: string) => workspacePaths(id, { stateDir, tempDir: tmpdir() });
  return {
    name: 'process',
    files: ['workspace'],
    isolation: { driver: 'process', network: 'none', limits: 'none' },
    pathsOf,
    markOf: (id) => pathsOf(id).run,
    ensureGroups: () => [],
    prepare: async (workspace, paths) => {
      await ensureFiles(workspace, paths);
      return {
        ...startCommand(workspace, paths, guestAgentPath),
        environment: { ...passedOn(environment), ...(workspace.tools !== undefined && { AGENTISO_TOOLS: workspace.tools }) },
      };
    },
    terminate: (main) => void signalProcess(main, 'SIGTERM'),
    killRest: async (paths) => {
      const leftovers = await findLeftovers(paths.workspace);
      return leftovers.map((identity) => signalProcess(identity, 'SIGKILL')).includes(true);
    },
    usage: usageOf,
    release: async () => true,
  };
}

const PASSED_ON = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TERM', 'SHELL', 'TMPDIR'];

function passedOn(get: ProcessDriverOptions['environment']): Record<string, string> {
  return Object.fromEntries(PASSED_ON.flatMap((name) => (get(name) === undefined ? [] : [[name, get(name) ?? '']])));
}

function startCommand(workspace: WorkspaceSpec, { run, state, workspace: root }: WorkspacePaths, guestAgentPath: string): StartCommand {
  const places = ['--run', run, '--state', state, '--workspace', root];
  const argv: StartCommand['argv'] = [
    process.execPath,
    guestAgentPath,
    ...launchArguments(workspace),
    ...places,
    ...(workspace.egress ? ['--providers'] : []),
  ];
  return { argv, cwd: root, files: [] };
}

/** The copy of a base is whole or not there. */
async function ensureFiles({ base }: WorkspaceSpec, { workspace }: WorkspacePaths): Promise<void> {
  if (base === undefined) {
    await mkdir(workspace, { recursive: true, mode: 0o700 });
    return;
  }
  if (await isPresent(workspace)) return;
  const copy = `${workspace}.new`;
  await rm(copy, { recursive: true, force: true });
  await execute('cp', ['-a', '--reflink=auto', '--', base, copy]);
  await rename(copy, workspace);
}

/** What has left the tree still carries the mark of the workspace. */
async function usageOf(main: ProcessIdentity, { workspace }: WorkspacePaths): Promise<Usage> {
  const tree = readTree(main.pid);
  const inTree = new Set(tree.map(({ pid }) => pid));
  const outside = (await findLeftovers(workspace)).filter(({ pid }) => !inTree.has(pid)).map(({ pid }) => readProcess(pid));
  return sumUsage([...tree, ...outside.filter((each) => each !== undefined)]);
}
