/** Answers to "who am I?" and "what may I do?": what `kubectl auth whoami`, `can-i` and `can-i --list` ask. Pure. */
import { InvalidError } from '#lib/errors.ts';
import { isObject, type JsonObject } from '#lib/json.ts';
import { type Attributes, authorise } from './authorise.ts';
import type { Identity } from './identity.ts';
import { nonResourceRules, resourceRules } from './rules.ts';

export interface Review {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: JsonObject;
  readonly spec?: unknown;
  readonly status: JsonObject;
}

/** authentication.k8s.io/v1 SelfSubjectReview. */
export function selfSubjectReview({ user, groups }: Identity, body: JsonObject): Review {
  const { metadata } = partsOf(body);
  const status = { userInfo: { username: user, groups: [...groups] } };
  return { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview', metadata, status };
}

/** authorization.k8s.io/v1 SelfSubjectAccessReview. */
export function selfSubjectAccessReview(identity: Identity, body: JsonObject): Review {
  const { metadata, spec } = partsOf(body);
  const { allowed, reason } = authorise(identity, attributesOf(spec));
  return { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', metadata, spec, status: { allowed, reason } };
}

/** authorization.k8s.io/v1 SelfSubjectRulesReview. */
export function selfSubjectRulesReview(identity: Identity, body: JsonObject): Review {
  const { metadata, spec } = partsOf(body);
  const namespace = textOf(spec, 'namespace');
  if (namespace === '') throw new InvalidError('no namespace on request');
  const status = {
    resourceRules: [...resourceRules(identity, namespace)],
    nonResourceRules: [...nonResourceRules(identity)],
    incomplete: false,
  };
  return { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectRulesReview', metadata, spec, status };
}

function attributesOf(spec: JsonObject): Attributes {
  const { resourceAttributes: resource, nonResourceAttributes: path } = spec;
  if (isObject(resource) === isObject(path)) {
    const message = 'Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified';
    throw invalid('SelfSubjectAccessReview', 'spec.resourceAttributes', message);
  }
  return isObject(resource) ? resourceOf(resource) : pathOf(isObject(path) ? path : {});
}

/** What is not said is empty text, which no rule about a namespace, name or subresource matches. */
function resourceOf(given: JsonObject): Attributes {
  return {
    verb: textOf(given, 'verb'),
    group: textOf(given, 'group'),
    version: textOf(given, 'version'),
    resource: textOf(given, 'resource'),
    subresource: textOf(given, 'subresource'),
    namespace: textOf(given, 'namespace'),
    name: textOf(given, 'name'),
  };
}

function pathOf(given: JsonObject): Attributes {
  return { verb: textOf(given, 'verb'), path: textOf(given, 'path') };
}

function partsOf({ metadata, spec }: JsonObject): { metadata: JsonObject; spec: JsonObject } {
  return { metadata: isObject(metadata) ? metadata : {}, spec: isObject(spec) ? spec : {} };
}

function textOf(given: JsonObject, field: string): string {
  const value = given[field];
  return typeof value === 'string' ? value : '';
}

function invalid(kind: string, path: string, message: string): InvalidError {
  const problem = { path, segments: path.split('.'), kind: 'Invalid', message } as const;
  return new InvalidError(`${kind}.authorization.k8s.io "" is invalid: ${path}: ${message}`, [problem]);
}
