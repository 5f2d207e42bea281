import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ApiServer, DISCOVERY, listOf, notFound, startApiServer, TASKS, TEAMS, team } from '../api-server.fixture.ts';

const now = Date.now();
/** Days do not change while the test runs. */
const ago = (days: number) => new Date(now - days * 86_400_000 - 60_000).toISOString();

const crew = team('crew', {
  metadata: {
    labels: { app: 'x', tier: 'y' },
    annotations: { note: 'hi', 'kubectl.kubernetes.io/last-applied-configuration': '{}' },
    managedFields: [],
    creationTimestamp: ago(40),
  },
  spec: { roles: [{ name: 'worker', count: 2 }], text: 'one\ntwo\n', tags: ['a', 'b'], 'x.y/z': 1 },
  status: {
    conditions: [{ type: 'Ready', status: 'True', reason: 'AllReady', message: 'all is well', lastTransitionTime: ago(20) }],
    observedGeneration: 1,
  },
});
const owned = {
  ...team('crew-task', { metadata: { ownerReferences: [{ uid: 'uid-crew', kind: 'Team', name: 'crew' }], creationTimestamp: ago(30) } }),
  kind: 'Task',
  status: { phase: 'Running' },
};
const event = (more: object) => ({ metadata: { name: 'e' }, type: 'Normal', source: { component: 'team' }, ...more });

let server: ApiServer;
beforeAll(async () => {
  server = await startApiServer({
    ...DISCOVERY,
    [`${TEAMS}/crew`]: () => ({ json: crew }),
    [`${TEAMS}/cr`]: () => notFound('', 'teams.agentiso.dev "cr" not found'),
    [`${TEAMS}/none`]: () => notFound('', 'teams.agentiso.dev "none" not found'),
    [TEAMS]: () => ({ json: listOf([crew, team('other')]) }),
    [TASKS]: () => ({ json: listOf([owned, team('stranger')], 'TaskList') }),
    '/api/v1/namespaces/default/events': ({ query }) => ({
      json: listOf(
        query.get('fieldSelector') ===
          'involvedObject.name=crew,involvedObject.namespace=default,involvedObject.kind=Team,involvedObject.uid=uid-crew'
          ? [
              event({ reason: 'Second', message: 'later\n', count: 3, firstTimestamp: ago(50), lastTimestamp: ago(30) }),
              event({ reason: 'First', message: 'earlier', count: 1, firstTimestamp: ago(60), lastTimestamp: ago(60) }),
            ]
          : [],
        'EventList',
      ),
    }),
  });
});
afterAll(() => server.close());

it('shows everything about an object, in kubectl’s layout', async () => {
  const { code, out, err } = await server.run(['describe', 'team', 'crew']);
  expect([code, err]).toEqual([0, '']);
  expect(out).toBe(`Name:         crew
Namespace:    default
Labels:       app=x
              tier=y
Annotations:  note: hi
API Version:  agentiso.dev/v1alpha1
Kind:         Team
Metadata:
  Creation Timestamp:  ${crew.metadata.creationTimestamp}
  Resource Version:    7
  UID:                 uid-crew
Spec:
  Roles:
    Count:  2
    Name:   worker
  Tags:
    a
    b
  Text:   one
          two
  x.y/z:  1
Status:
  Conditions:
    Type   Status  Reason    Age  Message
    ----   ------  ------    ---  -------
    Ready  True    AllReady  20d  all is well
  Observed Generation:  1
Owned:
  Kind  Name       Phase    Age
  ----  ----       -----    ---
  Task  crew-task  Running  30d
Events:
  Type    Reason  Age                From  Message
  ----    ------  ----               ----  -------
  Normal  First   60d                team  earlier
  Normal  Second  30d (x3 over 50d)  team  later
`);
});

it('leaves events out when asked, and shows several objects apart', async () => {
  const { out } = await server.run(['describe', 'teams', '--show-events=false']);
  expect(out).not.toContain('Events');
  expect(out.split('\n\n\n')).toHaveLength(2);
});

it('takes the beginning of a name when there is no such name', async () => {
  expect((await server.run(['describe', 'team/cr'])).out).toMatch(/^Name: {9}crew\n/);
});

it('says what is not there', async () => {
  const want = { code: 1, out: '', err: 'Error from server (NotFound): teams.agentiso.dev "none" not found\n' };
  expect(await server.run(['describe', 'team', 'none'])).toEqual(want);
});
