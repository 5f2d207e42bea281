/** What the benchmarks measure, and how it is opened: the only thing they know of the store. */
import type { BenchTask } from './objects.ts';

export interface SubjectEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: BenchTask;
}

export interface Subject {
  /** Writes spec and status; resolves, when durable, to the stored object with its metadata filled in. */
  create(task: BenchTask): Promise<BenchTask>;
  /** Compare-and-swap on metadata.resourceVersion; resolves, when durable, to the stored object. */
  update(task: BenchTask): Promise<BenchTask>;
  /** Calls back for every change from now on; returns the function that ends it. */
  watch(onEvent: (event: SubjectEvent) => void): () => void;
  count(): number;
  /** The path of the object's YAML file; needs only kind, namespace and name. */
  fileOf(task: BenchTask): string;
  /** Resolves when every acknowledged write is in its YAML file. */
  flushed(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the store in a directory, empty or used before; resolves when all objects are in memory and files are watched. */
export type OpenSubject = (dir: string) => Promise<Subject>;

/** The bundled store that scripts/bench.mjs made, or `module` in its place, to prove that the harness can fail. */
export async function loadSubject(module: string | undefined): Promise<OpenSubject> {
  const bundled = process.env['AGENTISO_BENCH_SUBJECT'];
  if (module === undefined && bundled === undefined) throw new Error('start the benchmarks with npm run bench');
  const loaded = (await import(module ?? bundled ?? '')) as { openSubject: OpenSubject };
  return loaded.openSubject;
}
