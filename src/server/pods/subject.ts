/** The agent that a request to a pod's subresource is about, and the checks that all of them share. */
import type { AgentReference } from '../agent-io.ts';
import { canSee } from '../auth/visibility.ts';
import type { Call, Serving } from '../call.ts';
import { text } from '../params.ts';
import { badRequest } from '../status.ts';
import { notFound } from '../verbs/read.ts';
import { CONTAINER } from './project.ts';

export function agentOf(call: Pick<Call, 'route' | 'query' | 'identity'>, { store, lookup }: Serving): AgentReference {
  const { namespace = '', name = '' } = call.route;
  const agent = store.get({ kind: 'Agent', namespace, name });
  if (!agent || !canSee(call.identity, agent, lookup)) throw notFound(call);
  checkContainer(call.query, name);
  return { namespace, name, uid: agent.metadata.uid };
}

function checkContainer(query: URLSearchParams, name: string): void {
  const container = text(query, 'container');
  if (container !== undefined && container !== CONTAINER) throw badRequest(`container ${container} is not valid for pod ${name}`);
}
