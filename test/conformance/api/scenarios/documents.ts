/** Which form of a document is given to whom, and what probes are told. */
import type { Scenario } from '../scenario.ts';
import { get, post, step } from './requests.ts';

const document = '/openapi/v3/apis/agentiso.dev/v1alpha1';
const v3 = 'application/com.github.proto-openapi.spec.v3';
const v2 = 'application/com.github.proto-openapi.spec.v2';
/** Of which one can be given. */
const asked: readonly (readonly [name: string, accept: string])[] = [
  ['anything', '*/*'],
  ['any application', 'application/*'],
  ['JSON', 'application/json'],
  ['text, or JSON', 'text/plain,application/json'],
  ['JSON, or protobuf', `application/json, ${v3}@v1.0+protobuf`],
];
/** The form is what it is about. */
const form = { pick: () => '' };

export const documentScenarios: readonly Scenario[] = [
  {
    name: 'documents',
    steps: [
      ...asked.map(([name, accept]) => step(`v3 as ${name}`, get(document, {}, { accept }), form)),
      ...asked.map(([name, accept]) => step(`v2 as ${name}`, get('/openapi/v2', {}, { accept }), form)),
      ...['@v1.0', '.v1.0'].map((suffix) =>
        step(`v2 as protobuf ${suffix}`, get('/openapi/v2', {}, { accept: `${v2}${suffix}+protobuf` }), form),
      ),
      step('a POST on the version', post('/version', {})),
      step('a check', get('/livez/ping')),
      step('all checks but one', get('/livez', { exclude: 'ping' })),
      step('all checks but none', get('/livez', { exclude: 'bogus' })),
      step('one check, in words', get('/livez/ping', { verbose: '' })),
      step('all checks but one, in words', get('/livez', { exclude: 'ping', verbose: '1' }), {
        pick: (body) =>
          String(body)
            .split('\n')
            .filter((line) => /ping|passed/.test(line)),
      }),
      step('checks cannot be written to', post('/livez', {})),
      step('logs', get('/logs')),
      step('a path nobody knows', get('/bogus')),
      step('a path below a resource nobody knows', get('/api/v1/bogus')),
      step('a core resource we have not', get('/api/v1/namespaces/default/bogus/x')),
      step('a group nobody knows', get('/apis/bogus.k8s.io/v1/things')),
    ],
  },
];
