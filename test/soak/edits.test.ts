/** Many edits, close together, while the store is busy or does not look: none is lost. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../bench/harness/random.ts';
import { type EditPlan, withLabel } from '../support/editor.ts';
import { scriptCommand, startScript } from '../support/script.ts';
import { auditFiles } from '../support/store-audit.ts';
import {
  allTakenIn,
  type OpenStore,
  putStatus,
  saveByRename,
  specOf,
  statusOf,
  taskDraft,
  taskKey,
  until,
  withStore,
} from '../support/store-home.ts';

const isFull = process.env['AGENTISO_SOAK'] === 'full';
const SEED = Number(process.env['AGENTISO_SEED'] ?? Date.now() % 1_000_000);

const nameOf = (number: number) => `task-${number}`;
const labelsOf = ({ get }: OpenStore, name: string) => get(name)?.metadata.labels ?? {};

async function fill({ store, directory }: OpenStore, count: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, (_, number) => store.create(taskDraft(nameOf(number), { title: 'start' }))));
  await directory.settled();
}

/** Labels that neither the store has nor a refused text keeps. */
function lost(open: OpenStore, files: number, edits: number): string[] {
  const folder = dirname(open.file('x'));
  const refused = readdirSync(folder).filter((name) => name.includes('.rejected'));
  return Array.from({ length: files }, (_, number) => nameOf(number)).flatMap((name) => {
    const kept = refused.filter((file) => file.startsWith(`${name}.yaml.`)).map((file) => readFileSync(join(folder, file), 'utf8'));
    return Array.from({ length: edits }, (_, edit) => `e${edit}`)
      .filter((label) => labelsOf(open, name)[label] !== 'yes' && !kept.some((text) => text.includes(` ${label}: `)))
      .map((label) => `${name} ${label}`);
  });
}

describe('edits close together', () => {
  const PAIRS = isFull ? 1_000 : 150;
  const LANES = 10;

  it(`keeps both of ${PAIRS} double edits 5 to 45 ms apart (seed ${SEED})`, async () => {
    await withStore(async (open) => {
      const { directory, store, get, file } = open;
      await fill(open, LANES);
      const lane = async (number: number) => {
        const name = nameOf(number);
        const random = seededRandom(SEED + number);
        const edit = (token: string) => {
          const text = withLabel(readFileSync(file(name), 'utf8'), token).replace(/title: .*/, `title: ${token}`);
          if (random() < 0.5) saveByRename(file(name), text);
          else writeFileSync(file(name), text);
        };
        for (let pair = 0; pair < PAIRS / LANES; pair++) {
          edit(`p${pair}-first`);
          // The distance of the two edits is what is tested.
          await pause(5 + random() * 40);
          edit(`p${pair}-second`);
          await until(store, () => specOf(get(name))['title'] === `p${pair}-second`, `${name} pair ${pair}`);
        }
      };
      await Promise.all(Array.from({ length: LANES }, (_, number) => lane(number)));
      await allTakenIn(open);
      const missing = Array.from({ length: LANES }, (_, number) => nameOf(number)).flatMap((name) =>
        Array.from({ length: PAIRS / LANES }, (_, pair) => [`p${pair}-first`, `p${pair}-second`])
          .flat()
          .filter((label) => labelsOf(open, name)[label] !== 'yes')
          .map((label) => `${name} ${label}`),
      );
      expect(missing).toEqual([]);
      expect(open.reports.filter(({ type }) => type === 'rejected')).toEqual([]);
      expect(auditFiles(directory)).toEqual([]);
    });
  });
});

describe('edits while the event loop is blocked', () => {
  const FILES = 1_500;
  const EDITS = 4;

  it(`takes in all ${FILES * EDITS}, more than the kernel queues events for`, async () => {
    await withStore(async (open) => {
      await fill(open, FILES);
      const files = Array.from({ length: FILES }, (_, number) => open.file(nameOf(number)));
      const plan: EditPlan = { files, edits: EDITS, ways: ['rename'], pauseMs: 0, seed: SEED };
      const path = join(open.home, 'plan.json');
      writeFileSync(path, JSON.stringify(plan));
      const [command, ...args] = scriptCommand('editor.ts', [path]);
      // Synchronous on purpose: nothing of the store runs until the other process is done.
      execFileSync(command, args);
      await allTakenIn(open);
      expect(lost(open, FILES, EDITS)).toEqual([]);
      expect(auditFiles(open.directory)).toEqual([]);
    });
  });
});

describe('edits while the store writes the same files', () => {
  const FILES = 8;
  const EDITS = isFull ? 150 : 30;

  it(`keeps ${FILES * EDITS} edits and every status (seed ${SEED})`, async () => {
    await withStore(async (open) => {
      const { directory, store, get } = open;
      await fill(open, FILES);
      const files = Array.from({ length: FILES }, (_, number) => open.file(nameOf(number)));
      const plan: EditPlan = { files, edits: EDITS, ways: ['rename', 'in-place', 'halves'], pauseMs: 120, seed: SEED };
      const path = join(open.home, 'plan.json');
      writeFileSync(path, JSON.stringify(plan));
      const editor = startScript('editor.ts', [path]);
      let isOver = false;
      void editor.ended.then(() => {
        isOver = true;
      });
      const attempts = new Map<string, number>();
      const writer = async (name: string) => {
        while (!isOver) {
          const attempt = (attempts.get(name) ?? 0) + 1;
          await putStatus(store, taskKey(name), { phase: 'Running', attempt }).then(
            () => attempts.set(name, attempt),
            (error: unknown) => {
              // An edit came in between: the next round writes over that.
              if ((error as { code?: string }).code !== 'Conflict') throw error;
            },
          );
          await pause(3);
        }
      };
      await Promise.all(Array.from({ length: FILES }, (_, number) => writer(nameOf(number))));
      const { code, stderr } = await editor.ended;
      expect(code, stderr).toBe(0);
      // A file that was replaced under the editor is looked at again when the editor has let go of it.
      await until(store, () => lost(open, FILES, EDITS).length === 0, 'every edit', 15_000).catch(() => {});
      await allTakenIn(open);
      expect(lost(open, FILES, EDITS)).toEqual([]);
      for (const [name, attempt] of attempts) expect(statusOf(get(name))['attempt'], name).toBe(attempt);
      expect(open.reports.filter(({ type }) => type === 'rejected').map(({ message }) => message)).toEqual([]);
      expect(auditFiles(directory)).toEqual([]);
    });
  });
});
