/** Agents as Pods: what kubectl, which knows only Pods, needs for logs, exec and their like. Read-only. Pure. */
import { API_VERSION, type KindObject } from '#api/meta.ts';
import type { Agent } from '#api/types.ts';
import type { JsonObject } from '#lib/json.ts';

/** The one container of every Pod. */
export const CONTAINER = 'agent';
export const AGENT_LABEL = 'agentiso.dev/agent';
export const TEAM_LABEL = 'agentiso.dev/team';
/** A person's note to kubectl about the Agent; of the Pod it would be wrong. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

type AgentPhase = NonNullable<NonNullable<Agent['status']>['phase']>;

interface Look {
  readonly phase: 'Pending' | 'Running' | 'Succeeded' | 'Failed';
  readonly state: 'waiting' | 'running' | 'terminated';
  readonly reason?: string;
}

const LOOKS: Readonly<Record<AgentPhase, Look>> = {
  Pending: { phase: 'Pending', state: 'waiting' },
  Starting: { phase: 'Pending', state: 'waiting' },
  Ready: { phase: 'Running', state: 'running' },
  Working: { phase: 'Running', state: 'running' },
  Suspended: { phase: 'Running', state: 'running', reason: 'Suspended' },
  Stopping: { phase: 'Running', state: 'running', reason: 'Stopping' },
  Stopped: { phase: 'Succeeded', state: 'terminated' },
  Failed: { phase: 'Failed', state: 'terminated' },
};

export function podOf(object: KindObject, nodeName: string): KindObject {
  const agent = object as unknown as Agent;
  const look = LOOKS[agent.status?.phase ?? 'Pending'];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: metadataOf(object, agent),
    spec: specOf(agent, nodeName),
    status: statusOf(agent, look),
  } as unknown as KindObject;
}

function metadataOf({ metadata }: KindObject, { spec }: Agent): JsonObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp, deletionTimestamp, labels, annotations = {} } = metadata;
  const { [LAST_APPLIED]: _applied, ...notes } = annotations;
  return {
    name,
    namespace,
    uid,
    resourceVersion,
    creationTimestamp,
    // Clients read the one without looking for the other.
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp, deletionGracePeriodSeconds: 30 }),
    labels: { ...labels, [AGENT_LABEL]: name, [TEAM_LABEL]: spec.team },
    ...(Object.keys(notes).length > 0 ? { annotations: notes } : {}),
    ownerReferences: [{ apiVersion: API_VERSION, kind: 'Agent', name, uid, controller: true, blockOwnerDeletion: false }],
  };
}

function specOf({ metadata, spec }: Agent, nodeName: string): JsonObject {
  const { vcpus, memoryMiB, diskGiB } = spec.resources;
  const limits = { cpu: String(vcpus), memory: `${memoryMiB}Mi`, 'ephemeral-storage': `${diskGiB}Gi` };
  const container = { name: CONTAINER, image: spec.image, resources: { limits, requests: limits }, imagePullPolicy: 'IfNotPresent' };
  return {
    containers: [container],
    nodeName,
    hostname: metadata.name,
    restartPolicy: spec.restartPolicy,
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'None',
    enableServiceLinks: false,
  };
}

function statusOf({ metadata, spec, status = {} }: Agent, { phase, state, reason }: Look): JsonObject {
  const ready = status.conditions?.find(({ type }) => type === 'Ready');
  const isReady = ready?.status === 'True';
  const since = ready?.lastTransitionTime ?? metadata.creationTimestamp;
  const why = isReady || !ready ? {} : { reason: ready.reason, message: ready.message };
  return {
    phase,
    ...(reason ? { reason } : {}),
    ...(status.ip ? { podIP: status.ip, podIPs: [{ ip: status.ip }] } : {}),
    ...(status.startedAt ? { startTime: status.startedAt } : {}),
    conditions: [
      { type: 'PodScheduled', status: 'True', lastTransitionTime: metadata.creationTimestamp },
      { type: 'Initialized', status: 'True', lastTransitionTime: metadata.creationTimestamp },
      { type: 'ContainersReady', status: isReady ? 'True' : 'False', lastTransitionTime: since, ...why },
      { type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime: since, ...why },
    ],
    containerStatuses: [
      {
        name: CONTAINER,
        image: spec.image,
        imageID: '',
        ...(status.incarnation ? { containerID: `agentiso://${status.incarnation}` } : {}),
        ready: isReady,
        started: state === 'running',
        restartCount: status.restarts ?? 0,
        state: { [state]: stateOf(state, status, ready) },
      },
    ],
    qosClass: 'Guaranteed',
  };
}

type Ready = { readonly reason: string; readonly message: string } | undefined;

function stateOf(state: Look['state'], { startedAt, phase }: NonNullable<Agent['status']>, ready: Ready): JsonObject {
  if (state === 'running') return startedAt ? { startedAt } : {};
  const message = ready?.message ? { message: ready.message } : {};
  if (state === 'waiting') return { reason: 'ContainerCreating', ...message };
  const isFailed = phase === 'Failed';
  return { exitCode: isFailed ? 1 : 0, reason: isFailed ? 'Error' : 'Completed', ...message, ...(startedAt ? { startedAt } : {}) };
}
