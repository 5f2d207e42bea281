/**
 * Board: the Tasks of a team as Markdown in the vault, one file each and an index. The Tasks are the truth: what somebody else changes in the
 * files is put back, with an Event that names the right way. Owns the team's folder in the vault and the condition VaultReady, which is
 * there only while something is wrong.
 */
import type { KindObject } from '#api/meta.ts';
import type { Team } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import { AgentisoError } from '#lib/errors.ts';
import type { Controller, ReconcileContext, Result, WithStatus } from '#runtime/controller.ts';
import { sleep } from '#runtime/sleep.ts';
import type { Vault } from '#vault/vault.ts';
import { Boards } from './boards.ts';
import { renderIndex } from './render-index.ts';
import { renderTask, TASK_MARK } from './render-task.ts';
import { INDEX, type TeamBoard } from './team-board.ts';
import { editCommand, folderOf } from './words.ts';

export const VAULT_FINALIZER = 'agentiso.dev/vault';
export const VAULT_READY = 'VaultReady';

/** Changes within this time become one index … */
const COALESCE_MS = 250;
/** … and while there is no end of them twice as much each time, up to this. */
const MAX_REST_MS = 1_000;
/** A large index is made less often, so that it never takes more than this part of the time: one twentieth. */
const REST_FACTOR = 20;
/** Files at a time; between them others get their turn, which is most of the time: nobody waits for these files. */
const BATCH = 8;
const BREATHER_MS = 10;
/** The first time after a start nearly all of them are as they should be, and agents that wait to be found again have the better claim. */
const FIRST_BREATHER_MS = 50;
/** For the same reason a team that was there long before waits so long for its first look: longer than a large fleet takes to be found. */
const FIRST_LOOK_MS = 10_000;
/** Of all teams together boards take so much of the time: one part in five. Each on its own would take as little, and fifty of them all. */
const PAUSE_FACTOR = 4;
const MAX_PAUSE_MS = 500;
const LONG_MS = 60_000;
const LOOK_MS = 5_000;

export interface BoardDeps {
  readonly client: Client;
  readonly vault: Vault;
  readonly monotonicMs: () => number;
}

export function boardController({ client, vault, monotonicMs }: BoardDeps): Controller<Team> {
  const boards = new Boards(client, (board) => prepare(board, vault));
  const rests = new WeakMap<TeamBoard, Rest>();
  /** Uids of teams that were looked at, or told to wait. */
  const begun = new Set<string>();
  return {
    name: 'board',
    kind: 'Team',
    finalizer: VAULT_FINALIZER,
    failureCondition: VAULT_READY,
    concurrency: 1,
    watches: [{ kind: 'Task', toKeys: (task, type) => boards.onTask(task, type), delayMs: COALESCE_MS }],
    wakes: [boards.wake, () => vault.onForeignChange((change) => boards.onForeignChange(change))],
    async reconcile(team, ctx) {
      const isFirstLook = !begun.has(team.metadata.uid);
      begun.add(team.metadata.uid);
      if (isFirstLook && isFromBefore(team, ctx.now())) return { requeueAfterMs: FIRST_LOOK_MS };
      const board = await boards.of(team);
      const before = rests.get(board);
      const restMs = (before?.untilMs ?? 0) - monotonicMs();
      if (!board.isDirty || restMs > 0) return board.isDirty ? { requeueAfterMs: Math.ceil(restMs) } : settled(team);
      const indexMs = await writeBoard(board, vault, { team, ctx, monotonicMs });
      rests.set(board, restAfter(before, indexMs, monotonicMs()));
      // Before the board of another team.
      await sleep(pauseMs(indexMs), ctx.signal);
      return settled(team);
    },
    async finalize(team) {
      // Agents and Tasks that still go would write their files again.
      if (isHeldByOthers(team)) return { requeueAfterMs: LOOK_MS };
      boards.forget(team);
      begun.delete(team.metadata.uid);
      await vault.removeTeam(team.metadata.namespace, team.metadata.name);
      return 'done';
    },
  };
}

/** How long a board that was just written is left alone. */
interface Rest {
  readonly ms: number;
  readonly untilMs: number;
}

/** Pure. */
export function restAfter(before: Rest | undefined, indexMs: number, nowMs: number): Rest {
  const isBusy = before !== undefined && nowMs < before.untilMs + before.ms;
  const ms = isBusy ? Math.min(before.ms * 2, MAX_REST_MS) : COALESCE_MS;
  return { ms, untilMs: nowMs + Math.max(ms, indexMs * REST_FACTOR) };
}

function pauseMs(workMs: number): number {
  return Math.min(workMs * PAUSE_FACTOR, MAX_PAUSE_MS);
}

/** It was made in an earlier life of the daemon, and so were its files. */
function isFromBefore({ metadata }: Team, now: Date): boolean {
  return now.getTime() - Date.parse(metadata.creationTimestamp) > LONG_MS;
}

function isHeldByOthers({ metadata: { finalizers = [] } }: Team): boolean {
  return finalizers.some((name) => name !== VAULT_FINALIZER && (name.startsWith('agentiso.dev/') || !name.includes('/')));
}

/** Whatever was wrong is no more. */
function settled(team: WithStatus<Team>): Result {
  const { conditions } = team.status;
  if (conditions?.some(({ type }) => type === VAULT_READY)) team.status.conditions = conditions.filter(({ type }) => type !== VAULT_READY);
  return {};
}

/** The folders, and no file of a Task that went while nobody looked. What people have put there is theirs. */
async function prepare(board: TeamBoard, vault: Vault): Promise<void> {
  const { namespace, name } = board;
  await vault.ensureTeam(namespace, name);
  for (const path of await vault.generatedIn(namespace, name, 'tasks')) {
    if (path === INDEX || board.nameAt(path) !== undefined) continue;
    if (await isTaskFile(vault, `${folderOf(board)}/${path}`)) await vault.removeGenerated(namespace, name, path);
  }
}

async function isTaskFile(vault: Vault, path: string): Promise<boolean> {
  try {
    return (await vault.read('everything', path)).content.includes(`\n${TASK_MARK}`);
  } catch (error) {
    // No text, a folder, a link to somewhere: nothing that we wrote.
    if (error instanceof AgentisoError) return false;
    throw error;
  }
}

interface Pass {
  readonly team: Team;
  readonly ctx: ReconcileContext;
  readonly monotonicMs: () => number;
}

/** Resolves with how long the index took, which is as long as the board is. */
async function writeBoard(board: TeamBoard, vault: Vault, pass: Pass): Promise<number> {
  const { names, foreign, isIndexDirty, isFirst } = board.take();
  const failures: unknown[] = [];
  const attempt = async (work: () => Promise<void>, retry: () => void) => {
    try {
      pass.ctx.signal.throwIfAborted();
      await work();
    } catch (error) {
      retry();
      failures.push(error);
    }
  };
  const breatherMs = isFirst ? FIRST_BREATHER_MS : BREATHER_MS;
  for (let at = 0; at < names.length; at += BATCH) {
    const batchMs = pass.monotonicMs();
    const some = names.slice(at, at + BATCH);
    await Promise.all(
      some.map((name) =>
        attempt(
          () => writeTask(board, vault, name),
          () => board.retry(name),
        ),
      ),
    );
    const tookMs = pass.monotonicMs() - batchMs;
    await sleep(Math.max(breatherMs, pauseMs(tookMs)), pass.ctx.signal);
  }
  const beganMs = pass.monotonicMs();
  if (isIndexDirty) {
    await attempt(
      () => writeIndex(board, vault),
      () => board.retryIndex(),
    );
  }
  const indexMs = pass.monotonicMs() - beganMs;
  if (failures.length > 0) {
    for (const path of foreign) board.putForeign(path);
    throw failures[0];
  }
  for (const path of foreign) reportForeign(board, path, pass);
  return indexMs;
}

async function writeTask(board: TeamBoard, vault: Vault, name: string): Promise<void> {
  const { namespace, name: team } = board;
  const task = board.task(name);
  const path = board.pathOf(name);
  if (task) await vault.writeGenerated(namespace, team, path, renderTask(task));
  // The place may be another Task's by now.
  else if (board.nameAt(path) === undefined) await vault.removeGenerated(namespace, team, path);
  board.wrote(name);
}

async function writeIndex(board: TeamBoard, vault: Vault): Promise<void> {
  const { namespace, name } = board;
  await vault.writeGenerated(namespace, name, INDEX, renderIndex(board, board.lines));
}

function reportForeign(board: TeamBoard, path: string, { team, ctx }: Pass): void {
  const name = board.nameAt(path);
  const task = name === undefined ? undefined : board.task(name);
  if (!task && path !== INDEX) return;
  const object: KindObject = task ?? team;
  const command = editCommand(task ? 'task' : 'team', object.metadata);
  const kubectl = command.replace(/^agentiso edit (task|team)/, 'kubectl edit $1s.agentiso.dev');
  const message = `${folderOf(board)}/${path} is generated: what was changed in it is put back. To change it: ${command} (or ${kubectl})`;
  ctx.events.warning(object, 'GeneratedFileRestored', message);
}
