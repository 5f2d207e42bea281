/** Kubernetes' words for a refusal; people and tools search for them. */
import type { Attributes } from './authorise.ts';
import type { Identity } from './identity.ts';

export function forbiddenMessage({ user }: Identity, attributes: Attributes, reason = ''): string {
  const who = `User ${JSON.stringify(user)} cannot ${attributes.verb}`;
  const why = reason === '' ? '' : `: ${reason}`;
  if ('path' in attributes) return `forbidden: ${who} path ${JSON.stringify(attributes.path)}${why}`;
  const { group, resource, subresource, namespace, name } = attributes;
  const qualified = group === '' ? resource : `${resource}.${group}`;
  const what = name ? `${qualified} ${JSON.stringify(name)}` : qualified;
  const whole = subresource ? `${resource}/${subresource}` : resource;
  const where = namespace ? `in the namespace ${JSON.stringify(namespace)}` : 'at the cluster scope';
  return `${what} is forbidden: ${who} resource ${JSON.stringify(whole)} in API group ${JSON.stringify(group)} ${where}${why}`;
}
