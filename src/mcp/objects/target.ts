/** The one object that a tool is asked about. */
import { DEFAULT_NAMESPACE } from '#api/meta.ts';
import type { ApiResource } from '#client/discovery.ts';
import { withMeantName } from '#client/meant-name.ts';
import { type ApiObject, getJson, resourcePath } from '#client/resource-api.ts';
import { namespaceOf, type Target } from '#client/write/target.ts';
import type { ToolCall } from '../tool.ts';
import { discovery } from './find-kind.ts';
import { toRefusal } from './refusal.ts';

export interface Named {
  readonly name: string;
  readonly namespace?: string;
}

export function toTarget(resource: ApiResource, { name, namespace = DEFAULT_NAMESPACE }: Named): Target {
  return { resource, name, namespace: namespaceOf(resource, namespace) };
}

export function teamTarget(team: string, namespace?: string): Target {
  return toTarget(discovery().find('teams'), { name: team, ...(namespace === undefined ? {} : { namespace }) });
}

/** Throws NotFound with the name that was probably meant. */
export async function getObject({ connection, signal }: Pick<ToolCall, 'connection' | 'signal'>, target: Target): Promise<ApiObject> {
  const { resource, ...location } = target;
  try {
    return await getJson(connection, resourcePath(resource, location), { signal });
  } catch (error) {
    const meant = await withMeantName(error, target, { connection, signal });
    throw toRefusal(meant, meant === error ? `list ${resource.plural} shows what there is` : undefined);
  }
}
