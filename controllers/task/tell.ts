/** Says each thing once: keyed, so that what was said before a crash is not said again, and remembered, so that a pass costs no disk. */
import { shortName, type Task } from '#api/types.ts';
import type { Notice, Notices } from '#relay/notices.ts';

/** Mailboxes remember keys for a day: what is older than this was said long ago. */
const FRESH_MS = 12 * 3_600_000;

export class Teller {
  readonly #notices: Pick<Notices, 'tell'> | undefined;
  readonly #told = new Map<string, Set<string>>();

  constructor(notices: Pick<Notices, 'tell'> | undefined) {
    this.#notices = notices;
  }

  /** On disk when it resolves. The key is one of the task's own. */
  async tell(taskUid: string, notice: Notice): Promise<void> {
    const told = this.#told.get(taskUid) ?? new Set();
    if (told.has(notice.key)) return;
    await this.#notices?.tell({ ...notice, key: `task/${taskUid}/${notice.key}` });
    this.#told.set(taskUid, told.add(notice.key));
  }

  forget(taskUid: string): void {
    this.#told.delete(taskUid);
  }
}

/** A notice of a Task's team that says which Task it is about. */
export function said({ metadata, spec }: Task, words: Omit<Notice, 'namespace' | 'team'>): Notice {
  const task = shortName(spec.team, metadata.name);
  return { namespace: metadata.namespace, team: spec.team, ...words, metadata: { task, ...words.metadata } };
}

export function isFresh(time: string | undefined, now: Date): boolean {
  return now.getTime() - Date.parse(time ?? '') < FRESH_MS;
}
