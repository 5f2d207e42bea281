/** Schemas of the resources that are answered without being stored, by qualified name; metadata is added by who asks. */
import type { Schema } from '#api/schema.ts';

const text = (description: string): Schema => ({ description, type: 'string' });
const texts = (description: string): Schema => ({
  description,
  type: 'array',
  items: { type: 'string' },
  'x-kubernetes-list-type': 'atomic',
});
const open = (description: string): Schema => ({ description, type: 'object', 'x-kubernetes-preserve-unknown-fields': true });
const object = (description: string, properties: Readonly<Record<string, Schema>>, required?: readonly string[]): Schema => ({
  description,
  type: 'object',
  properties,
  ...(required && { required }),
});
const list = (description: string, items: Schema): Schema => ({ description, type: 'array', items, 'x-kubernetes-list-type': 'atomic' });

const RESOURCE_ATTRIBUTES = object('The action on a resource that is asked about.', {
  group: text('Group of the resource; "*" means all.'),
  name: text('Name of the object; empty means all.'),
  namespace: text('Namespace of the action; empty means all, or none for what has no namespace.'),
  resource: text('The resource, in the plural; "*" means all.'),
  subresource: text('The subresource; empty means none.'),
  verb: text('get, list, watch, create, update, patch, delete or "*".'),
  version: text('API version of the resource; "*" means all.'),
});
const PATH_ATTRIBUTES = object('The action on a path outside the resources that is asked about.', {
  path: text('The path.'),
  verb: text('The HTTP method in lower case.'),
});

const ACCESS_REVIEW = object(
  'SelfSubjectAccessReview asks whether the caller may do something.',
  {
    spec: object('What is asked.', { nonResourceAttributes: PATH_ATTRIBUTES, resourceAttributes: RESOURCE_ATTRIBUTES }),
    status: object('The answer.', {
      allowed: { description: 'True if the action is allowed.', type: 'boolean' },
      denied: { description: 'True if the action is denied for good.', type: 'boolean' },
      evaluationError: text('What went wrong in finding the answer.'),
      reason: text('Why it is allowed or denied.'),
    }),
  },
  ['spec'],
);

const RULES_REVIEW = object(
  'SelfSubjectRulesReview asks for everything the caller may do in a namespace.',
  {
    spec: object('What is asked.', { namespace: text('The namespace.') }),
    status: object('The answer.', {
      evaluationError: text('What went wrong in finding the answer.'),
      incomplete: { description: 'True if there may be more rules than these.', type: 'boolean' },
      nonResourceRules: list(
        'Paths outside the resources that are allowed.',
        object('Allowed paths.', { nonResourceURLs: texts('Paths.'), verbs: texts('Methods.') }, ['verbs']),
      ),
      resourceRules: list(
        'Actions on resources that are allowed.',
        object(
          'Allowed actions.',
          {
            apiGroups: texts('Groups.'),
            resourceNames: texts('Names of objects; none means all.'),
            resources: texts('Resources.'),
            verbs: texts('Verbs.'),
          },
          ['verbs'],
        ),
      ),
    }),
  },
  ['spec'],
);

const SELF_REVIEW = object('SelfSubjectReview asks who the caller is.', {
  status: object('The answer.', {
    userInfo: object('The caller.', {
      extra: {
        description: 'Anything else that is known.',
        type: 'object',
        additionalProperties: { type: 'array', items: { type: 'string' } },
      },
      groups: texts('Groups the caller is in.'),
      uid: text('What tells the caller from others of the same name.'),
      username: text('Name of the caller.'),
    }),
  }),
});

const EVENT = object('Event is a report of something that happened to an object.', {
  action: text('What was done or what failed.'),
  deprecatedCount: { description: 'How often it happened.', type: 'integer', format: 'int32' },
  deprecatedFirstTimestamp: text('When it first happened.'),
  deprecatedLastTimestamp: text('When it last happened.'),
  deprecatedSource: object('Who reported it.', { component: text('The component.'), host: text('Its machine.') }),
  eventTime: text('When it first happened.'),
  note: text('What happened, for people.'),
  reason: text('What happened, for programs.'),
  regarding: { ...open('The object it happened to.'), 'x-kubernetes-map-type': 'atomic' },
  related: { ...open('Another object it has to do with.'), 'x-kubernetes-map-type': 'atomic' },
  reportingController: text('Who reported it.'),
  reportingInstance: text('Which instance of it.'),
  series: open('How it went on, if it happened again and again.'),
  type: text('Normal or Warning.'),
});

const POD_METRICS = object('PodMetrics is what an agent uses now. Read-only.', {
  containers: list(
    'What its one container uses.',
    object('Usage of a container.', { name: text('Its name.'), usage: open('cpu and memory, as quantities.') }),
  ),
  timestamp: text('When it was measured.'),
  window: text('Over how long the processor time was measured.'),
});

export const computedSchemas: Readonly<Record<string, Schema>> = {
  pods: object('Pod is a view of an Agent, for clients that only know pods. Read-only: change the Agent.', {
    spec: open('What the Agent asks for, in the words of a pod: one container named agent.'),
    status: open('What the Agent does, in the words of a pod.'),
  }),
  'pods.metrics.k8s.io': POD_METRICS,
  services: object('Service is a named address of pods. There are none here.', { spec: open('Not used.'), status: open('Not used.') }),
  'events.events.k8s.io': EVENT,
  'customresourcedefinitions.apiextensions.k8s.io': object(
    'CustomResourceDefinition describes a kind of this API. Read-only.',
    { spec: open('The kind: its names, versions and schema.'), status: open('Whether the kind is served.') },
    ['spec'],
  ),
  'selfsubjectaccessreviews.authorization.k8s.io': ACCESS_REVIEW,
  'selfsubjectrulesreviews.authorization.k8s.io': RULES_REVIEW,
  'selfsubjectreviews.authentication.k8s.io': SELF_REVIEW,
};
