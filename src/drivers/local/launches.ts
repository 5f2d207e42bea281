/**
 * Guests found again by what they were started with: a record may be lost or half written, a command line stays with its process.
 * Nothing else is ever taken for a guest: it must carry the workspace's id, its incarnation, and a mark that only this home gives.
 */
import { isWorkspaceId } from './paths.ts';
import { listPids, type RunningProcess, readCommandLine, readProcess } from './processes.ts';

export interface Launch {
  readonly id: string;
  readonly incarnation: string;
  /** The first process of the start, which the others end with. undefined: it is gone and only others are left. */
  readonly main: RunningProcess | undefined;
  /** All processes that carry the same command line, `main` included. */
  readonly processes: readonly RunningProcess[];
}

export interface LaunchedProcess {
  readonly id: string;
  readonly incarnation: string;
  readonly process: RunningProcess;
}

/** The words by which a launch is known; part of every guest's command line. */
export function launchArguments({ id, incarnation }: { readonly id: string; readonly incarnation: string }): string[] {
  return ['--id', id, '--incarnation', incarnation];
}

/** Pure. `markOf` says by which word a guest of that id is known. */
export function parseLaunch(words: readonly string[], markOf: (id: string) => string): { id: string; incarnation: string } | undefined {
  for (const [at, word] of words.entries()) {
    const [, id = '', option, incarnation = ''] = words.slice(at, at + 4);
    if (word !== '--id' || option !== '--incarnation' || incarnation === '' || !isWorkspaceId(id)) continue;
    if (words.includes(markOf(id))) return { id, incarnation };
  }
  return undefined;
}

export function findLaunches(markOf: (id: string) => string): Launch[] {
  const found: LaunchedProcess[] = [];
  for (const pid of listPids()) {
    const launch = parseLaunch(readCommandLine(pid), markOf);
    if (launch === undefined) continue;
    const process = readProcess(pid);
    if (process !== undefined && isOfHost(process)) found.push({ ...launch, process });
  }
  return groupLaunches(found);
}

/**
 * An agent inside a sandbox can start a process with any command line. It cannot start one outside of its pid namespace, nor a new
 * namespace with a first process of its own: those two kinds come from the host alone.
 */
export function isOfHost({ namespacePids }: Pick<RunningProcess, 'namespacePids'>): boolean {
  return namespacePids.length <= 1 || (namespacePids.length === 2 && namespacePids[1] === 1);
}

/** Pure. One launch per id and incarnation. */
export function groupLaunches(found: readonly LaunchedProcess[]): Launch[] {
  const groups = new Map<string, LaunchedProcess[]>();
  for (const each of found) {
    const key = `${each.id} ${each.incarnation}`;
    groups.set(key, [...(groups.get(key) ?? []), each]);
  }
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const processes = group.map(({ process }) => process);
    const pids = new Set(processes.map(({ pid }) => pid));
    const main = processes.find(({ parent, namespacePids }) => namespacePids.length <= 1 && !pids.has(parent));
    return [{ id: first.id, incarnation: first.incarnation, main, processes }];
  });
}
