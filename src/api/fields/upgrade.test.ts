import { describe, expect, test } from 'vitest';
import type { KindObject } from '../meta.ts';
import { applyConfig } from './apply.ts';
import { API_VERSION, by, owners, SCHEMA, type TeamSpec, team, withManaged } from './fields.fixture.ts';
import { trackUpdate } from './track.ts';

const ANNOTATION = 'kubectl.kubernetes.io/last-applied-configuration';

/** As kubectl apply without --server-side leaves it; `spec` may have been edited since. */
function clientApplied(applied: TeamSpec, spec: TeamSpec = applied, annotation?: string): KindObject {
  const text =
    annotation ?? JSON.stringify({ apiVersion: API_VERSION, kind: 'Team', metadata: { name: 't', namespace: 'ns' }, spec: applied });
  const made = team(applied, { uid: 'u', annotations: { [ANNOTATION]: text, mine: 'x' } });
  const live = withManaged(made, trackUpdate(SCHEMA, undefined, made, by('kubectl-client-side-apply')));
  const edited = { ...live, spec };
  return withManaged(edited, trackUpdate(SCHEMA, live, edited, by('kubectl-edit', 1)));
}

function apply(live: KindObject, spec: TeamSpec, manager = 'kubectl'): KindObject {
  return applyConfig({ schema: SCHEMA, live, config: team(spec), writer: by(manager, 2), force: false });
}

describe('from client-side to server-side apply', () => {
  test('kubectl may change what its last client-side apply set', () => {
    const next = apply(clientApplied({ leader: 'x', replicas: 1 }), { leader: 'y', replicas: 1 });
    expect(next.spec).toEqual({ leader: 'y', replicas: 1 });
    expect(owners(next)['kubectl']).toEqual({ 'f:spec': { 'f:leader': {}, 'f:replicas': {} } });
    expect(owners(next)['kubectl-client-side-apply']).not.toHaveProperty(['f:spec', 'f:leader']);
  });

  test('nobody else may', () => {
    expect(() => apply(clientApplied({ leader: 'x' }), { leader: 'y' }, 'other')).toThrow(
      `Apply failed with 1 conflict: conflict with "kubectl-client-side-apply" using ${API_VERSION}: .spec.leader`,
    );
  });

  test('what was edited since is still a conflict, and only that', () => {
    const live = clientApplied({ leader: 'x', replicas: 1 }, { leader: 'x', replicas: 5 });
    expect(() => apply(live, { leader: 'y', replicas: 2 })).toThrow(
      `Apply failed with 1 conflict: conflict with "kubectl-edit" using ${API_VERSION}: .spec.replicas`,
    );
  });

  test.each([
    ['is no JSON', '{'],
    ['is no object', '[]'],
    ['is empty', ''],
    ['is of another version', JSON.stringify({ apiVersion: 'v1', kind: 'Team', spec: { leader: 'x' } })],
    ['does not fit the schema', JSON.stringify({ apiVersion: API_VERSION, kind: 'Team', spec: { leader: 'x', old: 1 } })],
  ])('an annotation that %s allows nothing', (_, annotation) => {
    expect(() => apply(clientApplied({ leader: 'x' }, { leader: 'x' }, annotation), { leader: 'y' })).toThrow(
      'Apply failed with 1 conflict',
    );
  });

  test('the annotation says what was applied, as kubectl writes it', () => {
    const live = clientApplied({ leader: 'x' });
    const next = applyConfig({
      schema: SCHEMA,
      live,
      config: team({ leader: 'x', env: { A: '<&>' } }, { annotations: { mine: 'x' } }),
      writer: by('kubectl', 2),
      force: false,
    });
    expect(next.metadata.annotations?.[ANNOTATION]).toBe(
      `{"apiVersion":"${API_VERSION}","kind":"Team","metadata":{"annotations":{"mine":"x"},"name":"t","namespace":"ns"},"spec":{"env":{"A":"\\u003c\\u0026\\u003e"},"leader":"x"}}\n`,
    );
    expect(live.metadata.annotations?.[ANNOTATION]).not.toContain('env');
  });

  test('a null among the annotations is an empty text', () => {
    const config: KindObject = JSON.parse(
      `{"apiVersion":"${API_VERSION}","kind":"Team","metadata":{"name":"t","annotations":{"mine":null}}}`,
    );
    const next = applyConfig({ schema: SCHEMA, live: clientApplied({ leader: 'x' }), config, writer: by('kubectl', 2), force: true });
    expect(next.metadata.annotations?.['mine']).toBe('');
    expect(next.metadata.annotations?.[ANNOTATION]).toContain('"annotations":{"mine":""}');
  });

  test('other managers leave it alone, and it is not made where it was not', () => {
    const live = clientApplied({ leader: 'x' });
    expect(apply(live, { leader: 'x' }, 'other').metadata.annotations).toEqual(live.metadata.annotations);
    expect(
      applyConfig({ schema: SCHEMA, live: undefined, config: team({ leader: 'x' }), writer: by('kubectl'), force: false }).metadata
        .annotations,
    ).toBeUndefined();
  });

  test('it goes if it would be too large', () => {
    const next = apply(clientApplied({ leader: 'x' }), { leader: 'x', env: { A: 'a'.repeat(300_000) } });
    expect(next.metadata.annotations).toEqual({ mine: 'x' });
  });
});
