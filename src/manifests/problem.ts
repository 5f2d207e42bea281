/** What is wrong in a manifest directory, in the words of an Event, and whom the Event is about. */
import { API_VERSION, DEFAULT_NAMESPACE, formatKey, type KindObject, type ObjectKey } from '#api/meta.ts';

export type ProblemReason =
  | 'InvalidManifest'
  | 'DuplicateResource'
  | 'ManifestRefused'
  | 'ManifestsUnavailable'
  | 'PruneHeld'
  | 'ApplyFailed'
  | 'PruneFailed';

export interface Problem {
  readonly reason: ProblemReason;
  /** Starts with the file, and the line where there is one. */
  readonly message: string;
  readonly about: ObjectKey;
}

/** As much of the runtime's event log as is needed here. */
export interface EventRecorder {
  normal(object: KindObject, reason: string, message: string): void;
  warning(object: KindObject, reason: string, message: string): void;
}

const MAX_NAME = 63;

/** Files and folders are no objects, but an Event needs something to be about: their path, as a name. */
export function aboutPath(path: string): ObjectKey {
  const words = path.toLowerCase().match(/[a-z0-9]+/g) ?? ['manifests'];
  return { kind: 'Manifest', namespace: DEFAULT_NAMESPACE, name: words.join('-').slice(-MAX_NAME).replace(/^-/, '') };
}

export function idOfProblem({ reason, message, about }: Problem): string {
  return `${reason} ${formatKey(about)} ${message}`;
}

export function placeholder({ kind, namespace, name }: ObjectKey): KindObject {
  return {
    apiVersion: API_VERSION,
    kind,
    metadata: { name, namespace, uid: '', resourceVersion: '', generation: 0, creationTimestamp: '' },
  };
}
