import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { GENERATION } from '#protocol/common.ts';
import type { TaskResult } from '#protocol/control.ts';
import { seededRandom } from '../../test/bench/harness/random.ts';
import { bundleGuest, type GuestBundle } from '../../test/support/guest-bundle.ts';
import { GUEST_ID, type RunningGuest, startGuestProcess } from '../../test/support/running-guest.ts';
import { CONFIGURATION, FakeHost } from './fake-host.fixture.ts';

const TASKS = 50;
const KILLS = 12;

let bundle: GuestBundle;
let directory: string | undefined;

beforeAll(async () => {
  bundle = await bundleGuest();
}, 60_000);

afterAll(async () => {
  await bundle.remove();
  if (directory !== undefined) await rm(directory, { recursive: true, force: true });
});

const keyOf = ({ taskUid, attempt }: { readonly taskUid: string; readonly attempt: number }) => `${taskUid}/${attempt}`;

/** What a host does: assigns, fetches results, acknowledges them, and starts the next attempt of what was lost. */
class Board {
  readonly host = new FakeHost();
  readonly assigned = new Set<string>();
  readonly results = new Map<string, TaskResult>();
  readonly acked = new Set<string>();

  assign(taskUid: string, attempt: number): void {
    this.assigned.add(`${taskUid}/${attempt}`);
    this.host.assign({ taskUid, attempt, command: `echo ${taskUid}/${attempt} >> ran; sleep 0.0${attempt % 10}` });
  }

  /** For whoever has to find out why it never gets done. */
  describe(): string {
    const missing = [...this.assigned].filter((key) => !this.results.has(key));
    const { mailbox, storedSeq, heartbeats } = this.host;
    return JSON.stringify({ missing, mails: mailbox.length, storedSeq, heartbeat: heartbeats.at(-1) });
  }

  /** Whether each is acknowledged is not known here: the answer to that may be what a kill has cost. */
  get isDone(): boolean {
    return this.assigned.size === this.results.size;
  }

  /** Until everything is done and acknowledged, or the guest is gone. */
  async fetchAll(guest: RunningGuest): Promise<void> {
    for (;;) {
      const { results } = await guest.client.call('pollResults', { limit: 7 });
      if (results.length === 0 && this.isDone) return;
      for (const result of results) this.#take(result);
      const keys = results.map(({ taskUid, attempt }) => ({ taskUid, attempt }));
      await guest.client.call('ackResults', { keys });
      for (const key of keys) this.acked.add(keyOf(key));
      await delay(5);
    }
  }

  #take(result: TaskResult): void {
    const key = keyOf(result);
    expect(this.assigned).toContain(key);
    expect(this.acked).not.toContain(key);
    const before = this.results.get(key);
    if (before !== undefined) expect(result).toEqual(before);
    this.results.set(key, result);
    if (before === undefined && result.isLost) this.assign(result.taskUid, result.attempt + 1);
  }
}

async function connectRelay(board: Board, guest: RunningGuest): Promise<void> {
  const relay = board.host.join(connect(guest.relayPath));
  await relay.call('hello', { generation: GENERATION, ...GUEST_ID });
  await guest.client.call('configure', CONFIGURATION);
}

it('starts each attempt at most once and ends it with exactly one result, whenever the guest is killed', { timeout: 120_000 }, async ({
  onTestFailed,
}) => {
  const seed = Number(process.env['AGENTISO_SEED'] ?? Date.now() % 1_000_000);
  console.info(`seed ${seed}`);
  const random = seededRandom(seed);
  const board = new Board();
  board.host.carries = () => random() < 0.5;
  for (let index = 0; index < TASKS; index += 1) board.assign(`task${index}`, 1);

  let kills = 0;
  let lastGuest: RunningGuest | undefined;
  onTestFailed(() => {
    console.info(`after ${kills} kills: ${board.describe()}\nthe guest says: ${lastGuest?.stderr()}`);
    lastGuest?.child.kill('SIGKILL');
  });
  for (let isOver = false; !isOver; ) {
    const guest = await startGuestProcess(bundle.path, directory === undefined ? {} : { directory });
    directory = guest.directory;
    lastGuest = guest;
    const exited = once(guest.child, 'exit');
    await connectRelay(board, guest);
    const fetched = board.fetchAll(guest);
    if (kills < KILLS && !board.isDone) {
      kills += 1;
      // The guest may die in the middle of an answer.
      await Promise.race([fetched, delay(random() * 250)]);
      guest.child.kill('SIGKILL');
      await exited;
      await fetched.catch((error: unknown) => {
        if (!/closed|hung up|failed/.test(String(error))) throw error;
      });
    } else {
      await fetched;
      const { results, pendingTasks } = await guest.client.call('pollResults', { limit: 100 });
      expect([results, pendingTasks]).toEqual([[], 0]);
      guest.child.kill('SIGTERM');
      await exited;
      isOver = true;
    }
  }

  const ranPath = join(directory ?? '', 'workspace/ran');
  const ran = existsSync(ranPath) ? readFileSync(ranPath, 'utf8').split('\n').slice(0, -1) : [];
  expect(new Set(ran).size).toBe(ran.length);
  for (const [key, { isLost, exitCode }] of board.results) {
    if (isLost) continue;
    expect(exitCode).toBe(0);
    expect(ran).toContain(key);
  }
  expect(board.results.size).toBe(board.assigned.size);
  const done = [...board.results.values()].filter(({ isLost }) => !isLost).map(({ taskUid }) => taskUid);
  expect(done).toHaveLength(TASKS);
  expect(new Set(done).size).toBe(TASKS);
  const lost = board.results.size - TASKS;
  console.info(`${kills} kills, ${lost} attempts lost`);
});
