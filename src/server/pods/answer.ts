/** Requests that only the agents themselves can answer: logs and usage. exec and its like come by another door. */
import type { ServerResponse } from 'node:http';
import type { AgentIo } from '../agent-io.ts';
import type { Answer, Call, Serving } from '../call.ts';
import { resources } from '../resources.ts';
import { badRequest, failure } from '../status.ts';
import type { RunningStreams } from '../streams/running.ts';
import { sendLog } from './log.ts';
import { agentOf } from './subject.ts';
import { answerUsage } from './usage.ts';

export interface PodDesk {
  readonly agentIo: AgentIo | undefined;
  readonly streams: RunningStreams;
  readonly response: ServerResponse;
}

const PODS = resources.find(({ asks }) => asks === 'pods');

/** Undefined: this one is answered from the store, as any other. */
export function podAnswer(call: Call, serving: Serving, desk: PodDesk): Promise<Answer | undefined> | undefined {
  const { resource, subresource } = call.route;
  if (resource.asks === 'usage') {
    if (!PODS) throw new Error('pods are not served');
    return answerUsage(call, serving, { agentIo: desk.agentIo, source: serving.sourceOf(PODS) });
  }
  if (subresource === undefined) return undefined;
  if (subresource !== 'log') throw badRequest('Upgrade request required');
  return answerLog(call, serving, desk);
}

/** The answer is a stream that goes on. */
async function answerLog(call: Call, serving: Serving, { agentIo, streams, response }: PodDesk): Promise<undefined> {
  // What is not there is told first.
  agentOf(call, serving);
  if (!agentIo) throw noAgents();
  const { signal, leave } = streams.enter(call.identity.user);
  response.on('close', leave);
  try {
    await sendLog(call, serving, { agentIo, response, signal });
  } catch (error) {
    leave();
    throw error;
  }
  return undefined;
}

export function noAgents() {
  return failure(503, 'this server cannot reach into agents: it only serves what is written down');
}
