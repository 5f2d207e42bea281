/** metrics.k8s.io: what agents use now, for `kubectl top pods`. */
import type { KindObject } from '#api/meta.ts';
import type { AgentIo, AgentUsage } from '../agent-io.ts';
import { listAnswer, objectAnswer } from '../answer.ts';
import { canSee } from '../auth/visibility.ts';
import type { Answer, Call, Serving } from '../call.ts';
import { listOptions } from '../list-options.ts';
import type { Source } from '../source.ts';
import { notFound } from '../verbs/read.ts';
import { CONTAINER } from './project.ts';

export interface UsageDesk {
  readonly agentIo: AgentIo | undefined;
  /** Of the pods. */
  readonly source: Source;
}

/** About how far apart the two looks are that processor time is counted between. */
const WINDOW = '10s';

export async function answerUsage(call: Call, serving: Serving, { agentIo, source }: UsageDesk): Promise<Answer> {
  const { route, query, identity } = call;
  const { namespace = '', name } = route;
  const asked = name === undefined ? source.list(listOptions(route, query)).items : [source.get(namespace, name)];
  const pods = asked.filter((pod) => pod !== undefined && canSee(identity, pod, serving.lookup)) as readonly KindObject[];
  const used = (await agentIo?.usage(pods.map(({ metadata }) => metadata))) ?? new Map<string, AgentUsage>();
  const now = serving.clock.now().toISOString();
  const items = pods.flatMap((pod) => {
    const usage = used.get(pod.metadata.uid);
    return usage ? [podMetrics(pod, usage, now)] : [];
  });
  const [only] = items;
  if (name === undefined) return listAnswer(call, { items, resourceVersion: source.resourceVersion() }, serving);
  if (!only) throw notFound(call);
  return objectAnswer(call, only, serving);
}

function podMetrics({ metadata }: KindObject, { cpuMillicores, memoryBytes }: AgentUsage, now: string): KindObject {
  const { name, namespace, creationTimestamp, labels } = metadata;
  const usage = { cpu: `${Math.max(0, Math.round(cpuMillicores))}m`, memory: `${Math.ceil(memoryBytes / 1_024)}Ki` };
  return {
    apiVersion: 'metrics.k8s.io/v1beta1',
    kind: 'PodMetrics',
    metadata: { name, namespace, creationTimestamp, ...(labels ? { labels } : {}) },
    timestamp: now.replace(/\.\d+Z$/, 'Z'),
    window: WINDOW,
    containers: [{ name: CONTAINER, usage }],
  } as unknown as KindObject;
}
