import { expect, it } from 'vitest';
import type { ApplyItem } from './apply-set.ts';
import { inOrderOfWriting } from './writing-order.ts';

const item = (kind: string, name: string, spec: object = {}, apiVersion = 'agentiso.dev/v1alpha1') =>
  ({ target: { name, namespace: 'default' }, config: { apiVersion, kind, metadata: { name }, spec } }) as unknown as ApplyItem;
const order = (...items: ApplyItem[]) => inOrderOfWriting(items).map(({ target }) => target.name);

it('writes what others need first, and leaves the rest in its place', () => {
  expect(
    order(
      item('Namespace', 'ns', {}, 'v1'),
      item('Task', 'a-z', { team: 'a', dependsOn: ['y', 'a-x'] }),
      item('Task', 'a-y', { team: 'a', dependsOn: ['x'] }),
      item('Agent', 'byhand', { team: 'leaf' }),
      item('Team', 'leaf', { parent: 'a' }),
      item('Task', 'a-x', { team: 'a' }),
      item('Team', 'a'),
      item('Merge', 'm', { team: 'a' }),
    ),
  ).toEqual(['ns', 'a', 'a-x', 'a-y', 'a-z', 'leaf', 'byhand', 'm']);
});

it('takes what it is given when there is no order, or nothing to order by', () => {
  expect(order(item('Task', 'p', { team: 't', dependsOn: ['q'] }), item('Task', 'q', { team: 't', dependsOn: ['p'] }))).toEqual(['q', 'p']);
  expect(order(item('Task', 'odd', { dependsOn: 7 }), item('ConfigMap', 'c', undefined, 'v1'))).toEqual(['odd', 'c']);
});
