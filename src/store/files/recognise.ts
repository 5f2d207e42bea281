/** Which version of its object a file shows, found at the start: a file that we wrote ourselves is no edit, however late it is. */
import { readFileSync } from 'node:fs';
import { parseManifest } from '#api/manifest.ts';
import type { KindObject } from '#api/meta.ts';
import { emitYaml } from '#lib/emit-yaml.ts';
import { equalJson } from '#lib/json.ts';
import { readEdit, statOf } from './reading.ts';
import { checksumOf, type FileMark, type FileState, fingerprintOf, isMark, isUntouched, markFingerprint, toState } from './state.ts';
import { fileView } from './view.ts';

/** What the journal knows of a file's object. */
export interface Remembered {
  readonly mark: unknown;
  readonly object: KindObject | undefined;
  /** Versions that the file may have been written from. */
  readonly versions: readonly KindObject[];
  /** The journal saw the object's end: a file that is still there is left over from it. */
  readonly isOrphaned: boolean;
}

/** undefined when somebody has to look at the file: it was edited, or it knows more than the journal. */
export function recogniseFile(path: string, remembered: Remembered): FileState | undefined {
  const { mark, object, isOrphaned } = remembered;
  if (!object && !isOrphaned) return undefined;
  const stat = statOf(path);
  if (!stat) return undefined;
  if (isMark(mark) && isUntouched(markFingerprint(mark), fingerprintOf(stat))) return fromMark(path, mark, remembered);
  return fromText(path, remembered);
}

/** As we left it. */
function fromMark(path: string, mark: FileMark, { object, versions }: Remembered): FileState | undefined {
  const [version, , , , , ownText] = mark;
  if (object && ownText === 0 && object.metadata.resourceVersion === String(version)) return toState(mark, fileView(object), undefined);
  if (object && version > Number(object.metadata.resourceVersion)) return undefined;
  const known = withVersion([...versions, ...(object ? [object] : [])], String(version));
  if (known && ownText === 0) return toState(mark, fileView(known), undefined);
  const text = readFileSync(path, 'utf8');
  const shows = known ? fileView(known) : parsed(text);
  return shows && toState(mark, shows, ownText === 1 ? text : undefined);
}

/** Written just before a crash, which took the note of it along: it says itself which version it shows. */
function fromText(path: string, { object, versions }: Remembered): FileState | undefined {
  if (versions.length === 0) return undefined;
  const reading = readEdit(path);
  const value = reading.is === 'text' ? parsed(reading.text) : undefined;
  if (reading.is !== 'text' || !value) return undefined;
  const known = withVersion([...versions, ...(object ? [object] : [])], value.metadata?.resourceVersion);
  const shows = known && fileView(known);
  if (!shows || !equalJson(shows, value)) return undefined;
  const { text, fingerprint } = reading;
  const state = { ...fingerprint, shows, version: Number(known.metadata.resourceVersion), checksum: checksumOf(text) };
  return text === emitYaml(shows) ? state : { ...state, text };
}

function withVersion(objects: readonly KindObject[], version: string | undefined): KindObject | undefined {
  return objects.find(({ metadata }) => metadata.resourceVersion === version);
}

function parsed(text: string): KindObject | undefined {
  const { documents, problems } = parseManifest(text);
  return problems.length === 0 && documents.length === 1 ? (documents[0]?.value as unknown as KindObject) : undefined;
}
