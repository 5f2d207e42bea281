/** etcd that holds what our API answered, and is put new revisions of it. */
import type { BenchContext } from '../harness/operation.ts';
import { type EtcdTasks, openEtcdTasks } from '../store/etcd-tasks.ts';
import { withRevision } from './merge.ts';

export type EtcdPuts = EtcdTasks;

export function openEtcdPuts(context: BenchContext, texts: readonly string[]): Promise<EtcdPuts> {
  return openEtcdTasks(context, texts.length, (index, revision) => Buffer.from(withRevision(texts[index] as string, revision)));
}
