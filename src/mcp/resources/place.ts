/** Where the things of a team are: their addresses, short names in them, and the namespace only where it is not the usual one. Pure. */
import { DEFAULT_NAMESPACE, type KindObject } from '#api/meta.ts';
import { shortName } from '#api/types.ts';
import { fillUri, type UriValues } from '../uri-template.ts';

/** `/tasks/{task}` as part of a team. */
export function teamTemplate(below = ''): string {
  return `agentiso://teams/{team}${below}{?namespace}`;
}

export function namespaceOf({ namespace }: UriValues): string {
  return namespace ?? DEFAULT_NAMESPACE;
}

export function uriIn(template: string, namespace: string, values: UriValues): string {
  return fillUri(template, namespace === DEFAULT_NAMESPACE ? values : { ...values, namespace });
}

/** Of an object that says in its spec whose it is. */
export function teamOf({ spec }: KindObject): string {
  return (spec as { readonly team?: string } | undefined)?.team ?? '';
}

export function shortNameOf(member: KindObject): string {
  return shortName(teamOf(member), member.metadata.name);
}
