/** A pod's log as text, as much as there is or for as long as the client reads. */
import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { isCode, messageOf } from '#lib/errors.ts';
import type { AgentIo } from '../agent-io.ts';
import type { Call, Serving } from '../call.ts';
import { badRequest } from '../status.ts';
import { logQuery } from './log-options.ts';
import { CONTAINER } from './project.ts';
import { agentOf } from './subject.ts';

export interface LogStream {
  readonly agentIo: AgentIo;
  readonly response: ServerResponse;
  /** Ends the stream from this side. */
  readonly signal: AbortSignal;
}

/** Resolves once the log has begun; rejects when it cannot. */
export async function sendLog(call: Call, serving: Serving, { agentIo, response, signal }: LogStream): Promise<void> {
  const agent = agentOf(call, serving);
  const query = logQuery(call.query, agent.name, serving.clock.now().getTime());
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  const log = await agentIo.logs(agent, query, AbortSignal.any([signal, gone.signal])).catch((error: unknown) => {
    throw logProblem(error, agent.name);
  });
  response.writeHead(200, { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-cache, private' });
  // Who follows a log that is silent waits for the headers all the same.
  response.flushHeaders();
  // Who stops to read has seen enough, and a log that breaks off has no other way to say so than to break off.
  void pipeline(log, response).catch(() => response.destroy());
}

/** In the words of a kubelet that has nothing to show. */
function logProblem(error: unknown, name: string): unknown {
  const pod = `container ${JSON.stringify(CONTAINER)} in pod ${JSON.stringify(name)}`;
  if (isCode(error, 'Unavailable')) return badRequest(`${pod} is waiting to start: ${messageOf(error)}`);
  if (isCode(error, 'NotFound')) return badRequest(`previous terminated ${pod} not found`);
  return error;
}
