/**
 * A process that writes to a store until it is killed: several writers at once, each with names of its own, every step said on
 * stdout before it is tried and after it is acknowledged. Arguments: home, seed, and how many acknowledged writes are enough.
 */
import { writeSync } from 'node:fs';
import type { Draft, KindObject } from '#api/meta.ts';
import { type Random, seededRandom } from '../bench/harness/random.ts';
import { auditFiles } from './store-audit.ts';
import { openStore, specOf, statusOf, taskDraft, taskKey } from './store-home.ts';

/** What is known of one object: `null` when it does not exist. */
export interface Seen {
  readonly uid: string;
  readonly version: number;
  readonly title: string;
  readonly progress: string;
}

/** The lines of this process. `next` is what the object will be if the step succeeds, as far as the writer decides that. */
export type CrashLine =
  | { readonly is: 'opening' }
  | { readonly is: 'open'; readonly version: number; readonly objects: Readonly<Record<string, Seen>>; readonly reports: readonly string[] }
  | { readonly is: 'ready'; readonly problems: readonly string[]; readonly objects: Readonly<Record<string, Seen>> }
  | { readonly is: 'try'; readonly name: string; readonly next: { readonly title: string; readonly progress: string } | null }
  | { readonly is: 'ack'; readonly name: string; readonly seen: Seen | null; readonly version: number }
  | { readonly is: 'done' };

const WRITERS = 6;
const NAMES_PER_WRITER = 4;

const [home = '', seed = '0', enough = '1000'] = process.argv.slice(2);
const say = (line: CrashLine) => writeSync(1, `${JSON.stringify(line)}\n`);

function seen(object: KindObject): Seen {
  return {
    uid: object.metadata.uid,
    version: Number(object.metadata.resourceVersion),
    title: String(specOf(object)['title'] ?? ''),
    progress: String((statusOf(object)['progress'] as { text?: string } | undefined)?.text ?? ''),
  };
}

async function main(): Promise<void> {
  say({ is: 'opening' });
  const { directory, store, reports } = await openStore(home, { segmentBytes: 24 * 1024, checkpointBytes: 64 * 1024 });
  const objects = () => Object.fromEntries(store.list('Task').items.map((object) => [object.metadata.name, seen(object)]));
  say({ is: 'open', version: store.resourceVersion, objects: objects(), reports: reports.map(({ message }) => message) });
  await directory.settled();
  say({ is: 'ready', problems: [...auditFiles(directory), ...reports.map(({ message }) => `reported: ${message}`)], objects: objects() });
  let acknowledged = 0;

  const step = async (name: string, random: Random) => {
    const key = taskKey(name);
    const current = store.get(key);
    const token = Math.floor(random() * 1e9).toString(36);
    const before = current && seen(current);
    const dice = random();
    const finish = (object: KindObject) => say({ is: 'ack', name, seen: seen(object), version: Number(object.metadata.resourceVersion) });
    if (!current || !before) {
      say({ is: 'try', name, next: { title: token, progress: '' } });
      finish(await store.create(taskDraft(name, { title: token, description: 'x'.repeat(Math.floor(random() * 600)) }) as Draft));
    } else if (dice < 0.15) {
      say({ is: 'try', name, next: null });
      await store.delete(key);
      say({ is: 'ack', name, seen: null, version: Number(current.metadata.resourceVersion) + 1 });
    } else if (dice < 0.5) {
      say({ is: 'try', name, next: { title: token, progress: before.progress } });
      finish(await store.update({ ...current, spec: { ...specOf(current), title: token } }));
    } else {
      say({ is: 'try', name, next: { title: before.title, progress: token } });
      const status = { phase: 'Running', progress: { text: token } };
      finish(await store.update({ ...current, status }, { subresource: 'status' }));
    }
    acknowledged++;
  };

  const writer = async (number: number) => {
    const random = seededRandom(Number(seed) * 31 + number);
    while (acknowledged < Number(enough)) {
      await step(`w${number}-${Math.floor(random() * NAMES_PER_WRITER)}`, random);
      // Now and then a pause, so that files and notes catch up and the kill may hit any phase.
      if (random() < 0.1) await new Promise((resolve) => setTimeout(resolve, random() * 40));
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, (_, number) => writer(number)));
  await directory.close();
  say({ is: 'done' });
}

await main();
