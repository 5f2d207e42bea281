/** Whether an identity may do something. Pure: the table of rules first, then, for agents, the object itself. */
import type { KindObject } from '#api/meta.ts';
import type { Identity } from './identity.ts';
import { type NonResourceRule, nonResourceRules, type ResourceRule, resourceRules } from './rules.ts';
import { taskProblem } from './task-writes.ts';
import { canSee, type Lookup } from './visibility.ts';

export interface ResourceAttributes {
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
  /**
   * As stored; for create, as it would be stored, with its namespace. Without it the answer is for the resource as a whole,
   * and each object still needs its own.
   */
  readonly object?: KindObject;
  /** What update or patch would make of `object`: ask again with it before storing. */
  readonly changed?: KindObject;
}

export interface PathAttributes {
  readonly verb: string;
  readonly path: string;
}

export type Attributes = ResourceAttributes | PathAttributes;

export interface Decision {
  readonly allowed: boolean;
  readonly reason: string;
}

export function authorise(identity: Identity, attributes: Attributes, lookup?: Lookup): Decision {
  const problem = 'path' in attributes ? pathProblem(identity, attributes) : resourceProblem(identity, attributes, lookup);
  return problem === undefined ? { allowed: true, reason: `allowed for the role ${identity.role}` } : { allowed: false, reason: problem };
}

function pathProblem(identity: Identity, { verb, path }: PathAttributes): string | undefined {
  return nonResourceRules(identity).some((rule) => matchesPath(rule, verb, path)) ? undefined : refusal(identity);
}

function resourceProblem(identity: Identity, attributes: ResourceAttributes, lookup: Lookup | undefined): string | undefined {
  const rules = resourceRules(identity, attributes.namespace);
  if (!rules.some((rule) => matchesResource(rule, attributes))) return refusal(identity);
  return attributes.object && objectProblem(identity, attributes.object, { ...attributes, lookup });
}

/** Also checked for create: what is asked for must be in the own team. */
function objectProblem(
  identity: Identity,
  object: KindObject,
  { verb, changed, lookup }: ResourceAttributes & { lookup: Lookup | undefined },
): string | undefined {
  if (identity.agent === undefined) return undefined;
  if (!canSee(identity, object, lookup)) return refusal(identity);
  if (verb === 'create') return taskProblem(identity.agent, object);
  return changed && taskProblem(identity.agent, changed, object);
}

function refusal({ role, agent }: Identity): string {
  if (agent) return `an agent may only see its own team ${agent.namespace}/${agent.team} and add to its tasks`;
  return role === 'viewer' ? 'a viewer may only read' : 'this identity has no rights';
}

export function matchesResource(rule: ResourceRule, { verb, group, resource, subresource, name }: ResourceAttributes): boolean {
  const isNamed = rule.resourceNames === undefined || (name !== undefined && rule.resourceNames.includes(name));
  return (
    isNamed &&
    includes(rule.verbs, verb) &&
    includes(rule.apiGroups, group) &&
    rule.resources.some((of) => covers(of, resource, subresource))
  );
}

function includes(values: readonly string[], value: string): boolean {
  return values.includes('*') || values.includes(value);
}

function covers(pattern: string, resource: string, subresource = ''): boolean {
  const [ofResource = '', ofSubresource = ''] = pattern.split('/');
  const isResource = ofResource === '*' || ofResource === resource;
  return isResource && (ofSubresource === subresource || (ofSubresource === '*' && subresource !== ''));
}

export function matchesPath(rule: NonResourceRule, verb: string, path: string): boolean {
  return includes(rule.verbs, verb) && rule.nonResourceURLs.some((pattern) => coversPath(pattern, path));
}

function coversPath(pattern: string, path: string): boolean {
  if (pattern === '*') return true;
  if (!pattern.endsWith('*')) return pattern === path;
  // A path that climbs is not where it begins.
  return path.startsWith(pattern.slice(0, -1)) && !path.split('/').includes('..');
}

/** How a list or watch must be answered: whole, object by object through canSee, or not at all. */
export function listScope(
  identity: Identity,
  { group, resource }: Pick<ResourceAttributes, 'group' | 'resource'>,
): 'all' | 'filtered' | 'none' {
  const attributes = { verb: 'list', version: '', group, resource };
  const rules = resourceRules(identity, identity.agent?.namespace);
  if (!rules.some((rule) => matchesResource(rule, attributes))) return 'none';
  return identity.role === 'agent' ? 'filtered' : 'all';
}
