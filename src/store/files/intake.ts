/**
 * Hand edits: a file that somebody created, changed or removed becomes a create, update or delete through the store's own rules.
 * What is refused changes nothing, and the text is kept beside the file. This file owns when a file is looked at, and what follows.
 */
import { renameSync, type Stats } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { MAX_DOCUMENT_BYTES } from '#api/manifest.ts';
import type { KindObject, ObjectKey } from '#api/meta.ts';
import { isName } from '#api/names.ts';
import { emitYaml } from '#lib/emit-yaml.ts';
import { AgentisoError, InvalidError, isCode, messageOf } from '#lib/errors.ts';
import { equalJson, type JsonObject } from '#lib/json.ts';
import type { Logger } from '#lib/log.ts';
import type { Store, WriteOptions } from '../store.ts';
import { applyEdit, type EditBase } from './apply-edit.ts';
import { describeRefusal, parseEdit, type Refusal, refusalOf } from './edit.ts';
import { leadsOutside } from './outside.ts';
import { idOf, type Paths } from './paths.ts';
import { hasRested, looksWhole, type Reading, readEdit, SETTLE_MS, statOf } from './reading.ts';
import { keepRejected, rejectedPath, setAside } from './rejected.ts';
import type { OnFileReport } from './report.ts';
import { Schedule } from './schedule.ts';
import { checksumOf, type FileState, type Fingerprint, fingerprintOf, isUntouched } from './state.ts';
import { editablePart, fileView } from './view.ts';
import type { FileWriter } from './writer.ts';

export interface IntakeOptions {
  readonly paths: Paths;
  readonly store: Store;
  readonly states: Pick<ReadonlyMap<string, FileState>, 'get'>;
  readonly writer: FileWriter;
  readonly onState: (key: ObjectKey, state: FileState | undefined) => void;
  readonly onReport: OnFileReport;
  /** An older version of an object, if it is still known: what a file left from before a crash was written from. */
  readonly versionOf: (key: ObjectKey, resourceVersion: string) => KindObject | undefined;
  /** Who set which field, when a person edits. */
  readonly track: WriteOptions['track'];
  readonly log: Logger;
}

/** A text with where it was found; one that we had already replaced has no place any more. */
interface FoundText {
  readonly text: string;
  readonly fingerprint: Fingerprint | undefined;
}

/** Editors and git remove a file before they write it again; only one that stays away was deleted. */
const GONE_MS = 300;
const RETRY_MS = 1_000;
const UNKNOWN_BASE: Refusal = {
  reason: 'EditConflict',
  problems: [{ message: 'was being saved when the store crashed, and has changed since; make the edit again on the new text' }],
};

export class FileIntake {
  readonly #options: IntakeOptions;
  readonly #schedule: Schedule;
  /** Folders that were refused because they are links. */
  readonly #foreign = new Set<string>();
  /** Folders that are none, as of this turn of the event loop. */
  readonly #plain = new Set<string>();

  constructor(options: IntakeOptions) {
    this.#options = options;
    this.#schedule = new Schedule((key) => this.examine(key), options.log);
  }

  /** Looks at a file that may have changed. Cheap when it did not. */
  examine(key: ObjectKey): void {
    if (this.#schedule.isBusy(key)) {
      this.#schedule.later(key, SETTLE_MS);
      return;
    }
    if (this.#isOutside(key)) return;
    const path = this.#options.paths.fileOf(key);
    const state = this.#options.states.get(idOf(key));
    const stat = statOf(path);
    if (!stat) this.#examineMissing(key, state);
    else if (!state || !isUntouched(state, fingerprintOf(stat)) || mayHideAnEdit(stat)) this.#take(key, readEdit(path), state);
  }

  /** A text that was in the file for a moment, before we replaced it. */
  displaced(key: ObjectKey, text: string, base: FileState, taken: () => void): void {
    this.#schedule.run(key, async () => {
      await this.#applyDisplaced(key, text, base);
      taken();
    });
  }

  /** A text that a crash kept from being taken in. It says itself which version it was an edit of. */
  left(key: ObjectKey, text: string, taken: () => void): void {
    this.#schedule.run(key, async () => {
      const found = { text, fingerprint: undefined };
      if (this.#isBaseKnown(key, text)) await this.#apply(key, found, undefined);
      else this.#refuse(key, found, UNKNOWN_BASE, undefined);
      taken();
    });
  }

  #isBaseKnown(key: ObjectKey, text: string): boolean {
    const { store, versionOf } = this.#options;
    const edit = parseEdit(key, text);
    if ('refusal' in edit) return true;
    const version = String((edit.document.value['metadata'] as { resourceVersion?: unknown }).resourceVersion);
    return store.get(key)?.metadata.resourceVersion === version || versionOf(key, version) !== undefined;
  }

  /** No file has this text any more, so there is nothing to look at again: it is tried here until it is in, or kept. */
  async #applyDisplaced(key: ObjectKey, text: string, base: FileState): Promise<void> {
    for (;;) {
      try {
        return await this.#apply(key, { text, fingerprint: undefined }, base);
      } catch (error) {
        this.#options.log.warn({ err: error, key }, 'edit could not be taken in, will retry');
        if (this.#schedule.isClosed) return this.#refuse(key, { text, fingerprint: undefined }, unavailable(error), base);
        await sleep(RETRY_MS);
      }
    }
  }

  close(): Promise<void> {
    return this.#schedule.close();
  }

  get isIdle(): boolean {
    return this.#schedule.isIdle;
  }

  /** Resolves when no edit is being taken in and none is waiting to be looked at again. */
  idle(): Promise<void> {
    return this.#schedule.idle();
  }

  #take(key: ObjectKey, reading: Reading, state: FileState | undefined): void {
    switch (reading.is) {
      case 'missing':
      case 'moving':
        this.#schedule.later(key, SETTLE_MS);
        return;
      case 'foreign':
        this.#refuseFile(key, { reason: 'NotAFile', problems: [{ message: `is ${reading.what}; only plain files are accepted here` }] });
        return;
      case 'unreadable':
        // A save that is under way may have stopped inside a letter.
        if (!hasRested(statOf(this.#options.paths.fileOf(key))?.mtimeMs ?? 0, Date.now())) this.#schedule.later(key, SETTLE_MS);
        else this.#refuseFile(key, { reason: 'Unreadable', problems: [{ message: reading.problem }] });
        return;
      case 'text':
        this.#takeText(key, reading, state);
    }
  }

  #takeText(key: ObjectKey, { text, fingerprint }: Reading & { is: 'text' }, state: FileState | undefined): void {
    if (state && checksumOf(text) === state.checksum) {
      if (!isUntouched(state, fingerprint)) this.#options.onState(key, { ...state, ...fingerprint });
    } else if (!looksWhole(text, fingerprint, state, Date.now())) this.#schedule.later(key, SETTLE_MS);
    else this.#schedule.run(key, () => this.#apply(key, { text, fingerprint }, state));
  }

  #examineMissing(key: ObjectKey, state: FileState | undefined): void {
    if (!state) return;
    this.#schedule.later(key, GONE_MS, () => {
      if (this.#isOutside(key)) return;
      const isStillGone = this.#options.states.get(idOf(key)) === state && !statOf(this.#options.paths.fileOf(key));
      if (isStillGone) this.#schedule.run(key, () => this.#applyRemoval(key));
      else this.examine(key);
    });
  }

  async #applyRemoval(key: ObjectKey): Promise<void> {
    const { store, onState, onReport, writer } = this.#options;
    const left = store.get(key) && (await store.delete(key));
    onState(key, undefined);
    onReport({ type: 'accepted', key, reason: 'FileRemoved', message: `${this.#label(key)}: file removed, the object is deleted` });
    // Something still holds it: the file comes back and shows that it is terminating.
    if (left) writer.markDirty(key);
  }

  async #apply(key: ObjectKey, found: FoundText, state: FileState | undefined): Promise<void> {
    const { store, onReport, track } = this.#options;
    const edit = parseEdit(key, found.text);
    if ('refusal' in edit) {
      if (edit.value) this.#protectRenamed(key, edit.value);
      return this.#refuse(key, found, edit.refusal, state);
    }
    const { value } = edit.document;
    try {
      const { before, after } = await applyEdit(store, key, value, { base: this.#baseOf(key, value, state), track });
      this.#settle(key, this.#isStill(key, state) ? found : { text: found.text, fingerprint: undefined }, value, after);
      if (before?.metadata.resourceVersion === after.metadata.resourceVersion) return;
      const reason = before ? 'FileEdited' : 'FileCreated';
      onReport({ type: 'accepted', key, reason, message: `${this.#label(key)}: the edit is in force` });
    } catch (error) {
      const isRefusal = error instanceof InvalidError || (error instanceof AgentisoError && isCode(error, 'Conflict'));
      if (!isRefusal) throw error;
      this.#refuse(key, found, refusalOf(error, edit.document), state);
    }
  }

  /**
   * What the file showed last, unless the text names an older version and differs from it: then an editor had read it before.
   * An old text put back as it was, by git for example, is meant to replace what is there now.
   */
  #baseOf(key: ObjectKey, value: JsonObject, state: FileState | undefined): EditBase | undefined {
    const { store, versionOf } = this.#options;
    const version = String((value['metadata'] as { resourceVersion?: unknown }).resourceVersion);
    if (!state) {
      const object = versionOf(key, version);
      return object && { object, isOutdated: false };
    }
    const old = state.shows.metadata?.resourceVersion === version ? undefined : store.recentVersion(key, version);
    const isEdited = old !== undefined && !equalJson(editablePart(fileView(old)), editablePart(value));
    return isEdited ? { object: old, isOutdated: true } : { object: state.shows, isOutdated: false };
  }

  /** False when the writer has replaced the file since: what we know of it now is about another text than the one found. */
  #isStill(key: ObjectKey, state: FileState | undefined): boolean {
    return this.#options.states.get(idOf(key)) === state;
  }

  /** A folder that became a link says nothing of its objects; whoever made it is told once. */
  #isOutside(key: ObjectKey): boolean {
    const { paths, onReport } = this.#options;
    const folder = paths.folderOf(key);
    if (this.#plain.has(folder)) return false;
    if (!leadsOutside(paths, key)) {
      this.#foreign.delete(folder);
      this.#rememberPlain(folder);
      return false;
    }
    if (this.#foreign.has(folder)) return true;
    this.#foreign.add(folder);
    const message = `${folder}: is a link or leads over one; only plain folders are read and written here`;
    onReport({ type: 'refused', key, reason: 'NotAFolder', message });
    return true;
  }

  /** For this turn of the event loop: very many files of one folder may be looked at in a row. */
  #rememberPlain(folder: string): void {
    if (this.#plain.size === 0) setImmediate(() => this.#plain.clear());
    this.#plain.add(folder);
  }

  /** Remembers the person's text, so that writing back keeps it, and lets them finish before doing so. */
  #settle(key: ObjectKey, { text, fingerprint }: FoundText, value: JsonObject, after: KindObject): void {
    const { states, onState, writer } = this.#options;
    const known = states.get(idOf(key));
    // What we would have written ourselves has no comments or formatting to keep.
    const own = emitYaml(value) === text ? {} : { text };
    // A replaced text lives on as the next text we write; the file meanwhile shows what we put there.
    if (!fingerprint) onState(key, known && { ...known, version: 0, ...own });
    else {
      const isComplete = equalJson(value, fileView(after));
      const version = isComplete ? Number(after.metadata.resourceVersion) : 0;
      onState(key, { ...fingerprint, shows: value as unknown as KindObject, version, checksum: checksumOf(text), ...own });
      if (isComplete) return;
    }
    writer.markDirty(key);
    writer.postpone(key);
  }

  /** Puts the last good state back in the file's place; the refused text stays beside it. */
  #refuse(key: ObjectKey, { text, fingerprint }: FoundText, refusal: Refusal, state: FileState | undefined): void {
    keepRejected(this.#options.paths.fileOf(key), text);
    if (fingerprint && this.#isStill(key, state)) this.#putBack(key, text, fingerprint);
    this.#tell(key, refusal);
  }

  #putBack(key: ObjectKey, text: string, fingerprint: Fingerprint): void {
    const { paths, store, states, writer, onState } = this.#options;
    const path = paths.fileOf(key);
    const state = states.get(idOf(key));
    const isStored = store.get(key) !== undefined;
    if (isStored && state) {
      // The writer exchanges the files; what it finds there is this text, which is kept already.
      onState(key, { ...state, ...fingerprint, version: 0, checksum: checksumOf(text) });
    } else {
      const stat = statOf(path);
      if (stat && isUntouched(fingerprint, fingerprintOf(stat))) renameSync(path, rejectedPath(path));
    }
    if (isStored) writer.markDirty(key, 0);
  }

  /** Not a readable file at all: it is moved out of the way as it is. */
  #refuseFile(key: ObjectKey, refusal: Refusal): void {
    const { paths, store, writer, onState } = this.#options;
    this.#schedule.run(key, async () => {
      setAside(paths.fileOf(key));
      onState(key, undefined);
      if (store.get(key)) writer.markDirty(key, 0);
      this.#tell(key, refusal);
    });
  }

  /** `mv a.yaml b.yaml` is no wish to delete a: its file comes back. */
  #protectRenamed(key: ObjectKey, value: JsonObject): void {
    const { store, paths, onState, writer } = this.#options;
    const { name, namespace, uid } = (value['metadata'] ?? {}) as { name?: unknown; namespace?: unknown; uid?: unknown };
    if (!isName(name)) return;
    const renamed = { kind: key.kind, name, namespace: isName(namespace) ? namespace : key.namespace };
    if (store.get(renamed)?.metadata.uid !== uid || statOf(paths.fileOf(renamed))) return;
    onState(renamed, undefined);
    writer.markDirty(renamed);
  }

  #tell(key: ObjectKey, refusal: Refusal): void {
    const message = `${this.#label(key)}: ${describeRefusal(refusal)} (the text is kept as ${key.name}.yaml.rejected)`;
    this.#options.onReport({ type: 'rejected', key, reason: refusal.reason, message });
  }

  #label({ kind, namespace, name }: ObjectKey): string {
    const { plural } = this.#options.paths.kinds.find((known) => known.kind === kind) ?? { plural: kind };
    return `${plural}/${namespace}/${name}.yaml`;
  }
}

/** Two writes of the same length within one tick of the kernel's clock look alike; a file this young is compared by content. */
function mayHideAnEdit({ mtimeMs, size }: Stats): boolean {
  // What we write may be larger than what we take from people: YAML is longer than the JSON that the store limits.
  return size <= MAX_DOCUMENT_BYTES && Date.now() - mtimeMs < SETTLE_MS;
}

function unavailable(error: unknown): Refusal {
  return { reason: 'Unavailable', problems: [{ message: `could not be stored: ${messageOf(error)}; make the edit again` }] };
}
