import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiServer, DISCOVERY, startApiServer } from '../api-server.fixture.ts';

const gvk = [{ group: 'agentiso.dev', version: 'v1alpha1', kind: 'Team' }];
const meta = '#/components/schemas/io.k8s.meta.v1.ObjectMeta';
const schemas = {
  'dev.agentiso.v1alpha1.Team': {
    type: 'object',
    description: 'A Team is a group of agents that work on the same board, each in a workspace of its own.',
    required: ['spec'],
    'x-kubernetes-group-version-kind': gvk,
    properties: {
      metadata: { description: 'Standard metadata.', allOf: [{ $ref: meta }] },
      spec: {
        type: 'object',
        description: 'What is wanted.',
        required: ['roles'],
        properties: {
          roles: { type: 'array', description: 'Who is in it.', items: { type: 'object', properties: { name: { type: 'string' } } } },
          policy: { type: 'string', description: 'How to merge.', enum: ['squash', 'rebase'] },
          labels: { type: 'object', additionalProperties: { type: 'string' } },
        },
      },
    },
  },
  'io.k8s.meta.v1.ObjectMeta': {
    type: 'object',
    description: 'ObjectMeta is what every object has.',
    properties: { creationTimestamp: { $ref: '#/components/schemas/io.k8s.meta.v1.Time' } },
  },
  'io.k8s.meta.v1.Time': { type: 'string', format: 'date-time', description: 'A time.' },
};

let server: ApiServer;
beforeAll(async () => {
  server = await startApiServer({
    ...DISCOVERY,
    '/openapi/v3': () => ({
      json: { paths: { 'apis/agentiso.dev/v1alpha1': { serverRelativeURL: '/openapi/v3/apis/agentiso.dev/v1alpha1?hash=1' } } },
    }),
    '/openapi/v3/apis/agentiso.dev/v1alpha1': () => ({ json: { components: { schemas } } }),
  });
});
afterAll(() => server.close());

const HEAD = 'GROUP:      agentiso.dev\nKIND:       Team\nVERSION:    v1alpha1\n\n';

describe('explain', () => {
  it.each([
    {
      argv: ['tm'],
      want: `DESCRIPTION:
    A Team is a group of agents that work on the same board, each in a workspace
    of its own.
    
FIELDS:
  metadata\t<ObjectMeta>
    Standard metadata.

  spec\t<Object> -required-
    What is wanted.


`,
    },
    {
      argv: ['teams.agentiso.dev.spec'],
      want: `FIELD: spec <Object>


DESCRIPTION:
    What is wanted.
    
FIELDS:
  labels\t<map[string]string>
    <no description>

  policy\t<string>
  enum: squash, rebase
    How to merge.

  roles\t<[]Object> -required-
    Who is in it.


`,
    },
    {
      argv: ['team.spec.policy'],
      want: 'FIELD: policy <string>\nENUM:\n    squash\n    rebase\n\nDESCRIPTION:\n    How to merge.\n    \n\n',
    },
    { argv: ['team.spec.roles.name'], want: 'FIELD: name <string>\n\n\nDESCRIPTION:\n    <empty>\n\n' },
    {
      argv: ['team.metadata'],
      want: 'FIELD: metadata <ObjectMeta>\n\n\nDESCRIPTION:\n    Standard metadata.\n    ObjectMeta is what every object has.\n    \nFIELDS:\n  creationTimestamp\t<string>\n    A time.\n\n\n',
    },
    {
      argv: ['team', '--recursive'],
      want: `DESCRIPTION:
    A Team is a group of agents that work on the same board, each in a workspace
    of its own.
    
FIELDS:
  metadata\t<ObjectMeta>
    creationTimestamp\t<string>
  spec\t<Object> -required-
    labels\t<map[string]string>
    policy\t<string>
    enum: squash, rebase
    roles\t<[]Object> -required-
      name\t<string>

`,
    },
  ])('$argv', async ({ argv, want }) => {
    expect(await server.run(['explain', ...argv])).toEqual({ code: 0, out: `${HEAD}${want}`, err: '' });
  });

  it.each([
    { argv: ['team.spec.rolls'], want: 'error: field "rolls" does not exist; did you mean roles?\n' },
    { argv: ['teem'], want: `error: the server doesn't have a resource type "teem"; did you mean team?\n` },
    { argv: ['team', '--api-version', 'agentiso.dev/v9'], want: `error: couldn't find resource for "agentiso.dev/v9, Kind=Team"\n` },
    { argv: ['tasks'], want: `error: the server's OpenAPI does not describe Task of agentiso.dev/v1alpha1\n` },
  ])('$argv is told in one line', async ({ argv, want }) => {
    expect(await server.run(['explain', ...argv])).toEqual({ code: 1, out: '', err: want });
  });
});
