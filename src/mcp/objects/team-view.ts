/** A team with its agents, as the API has them now. */
import { DEFAULT_NAMESPACE } from '#api/meta.ts';
import type { Agent, Team } from '#api/types.ts';
import { type ApiObject, listObjects } from '#client/resource-api.ts';
import { StatusError } from '#client/status-error.ts';
import { isObject } from '#lib/json.ts';
import { bytesOf, millicoresOf } from '#lib/quantity.ts';
import type { ToolCall } from '../tool.ts';
import { discovery } from './find-kind.ts';
import { getObject, teamTarget } from './target.ts';
import { toTeamAnswer, type Use } from './team-answer.ts';

/** Throws NotFound with the name that was probably meant. */
export async function getTeam(call: Pick<ToolCall, 'connection' | 'signal'>, name: string, namespace?: string): Promise<Team> {
  return (await getObject(call, teamTarget(name, namespace))) as unknown as Team;
}

export async function agentsOf({ client }: Pick<ToolCall, 'client'>, { metadata }: Team): Promise<readonly Agent[]> {
  return (await client.list<Agent>('Agent', { namespace: metadata.namespace, fieldSelector: `spec.team=${metadata.name}` })).items;
}

export async function teamView(call: ToolCall, name: string, namespace = DEFAULT_NAMESPACE) {
  const team = await getTeam(call, name, namespace);
  const [agents, uses] = await Promise.all([agentsOf(call, team), usesIn(call, namespace)]);
  return toTeamAnswer(team, agents, uses);
}

/** Only adds to an answer: where nobody measures, nothing is said. */
async function usesIn({ connection, signal }: ToolCall, namespace: string): Promise<ReadonlyMap<string, Use>> {
  try {
    const resource = discovery().find('pods.metrics.k8s.io');
    const { items } = await listObjects(connection, { resource, location: { namespace }, signal });
    return new Map(items.map((item) => [item.metadata.name ?? '', toUse(item)]));
  } catch (error) {
    if (error instanceof StatusError) return new Map();
    throw error;
  }
}

function toUse({ containers }: ApiObject): Use {
  const [container] = Array.isArray(containers) ? containers.filter(isObject) : [];
  const { cpu, memory } = isObject(container?.['usage']) ? container['usage'] : {};
  return {
    ...(typeof cpu === 'string' ? { cpu_millicores: Math.round(millicoresOf(cpu)) } : {}),
    ...(typeof memory === 'string' ? { memory_bytes: Math.round(bytesOf(memory)) } : {}),
  };
}
