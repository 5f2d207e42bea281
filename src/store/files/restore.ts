/** An object from its file alone, for when the journal is gone: everything in the file is believed, bookkeeping aside. */
import { parseManifest } from '#api/manifest.ts';
import type { KindObject, ObjectKey } from '#api/meta.ts';
import { isObject } from '#lib/json.ts';
import type { Admission } from '../change.ts';

/** undefined when the file was never ours, or is not valid now: it is then an edit like any other. */
export function restoreObject(key: ObjectKey, text: string, admission: Admission): KindObject | undefined {
  const { documents, problems } = parseManifest(text);
  const value = documents[0]?.value;
  if (problems.length > 0 || documents.length !== 1 || !value || !isOurs(value, key)) return undefined;
  try {
    return admission.admit(value as unknown as KindObject, undefined);
  } catch {
    return undefined;
  }
}

/** Whether a file knows more than the journal: the record of its last version was damaged. */
export function isNewer({ metadata }: KindObject, known: KindObject | undefined): boolean {
  if (!known) return true;
  return metadata.uid === known.metadata.uid && Number(metadata.resourceVersion) > Number(known.metadata.resourceVersion);
}

function isOurs(value: Record<string, unknown>, { kind, namespace, name }: ObjectKey): boolean {
  const metadata = value['metadata'];
  if (value['kind'] !== kind || !isObject(metadata)) return false;
  if (metadata['name'] !== name || metadata['namespace'] !== namespace) return false;
  return (
    typeof metadata['uid'] === 'string' && /^\d+$/.test(String(metadata['resourceVersion'])) && typeof metadata['generation'] === 'number'
  );
}
