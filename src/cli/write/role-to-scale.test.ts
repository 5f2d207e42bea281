import { expect, it } from 'vitest';
import { roleToScale, scalePatch } from './role-to-scale.ts';

const team = (...roles: object[]) => ({ spec: { roles } });

it('is the only role there can be several of', () => {
  expect(roleToScale(team({ name: 'lead' }, { name: 'dev', count: 2 }), undefined)).toEqual({ name: 'dev', index: 1, count: 2 });
  expect(roleToScale(team({ name: 'dev' }), undefined)).toEqual({ name: 'dev', index: 0, count: 1 });
});

it('is the one that is asked for', () => {
  expect(roleToScale(team({ name: 'a' }, { name: 'b' }), 'b').index).toBe(1);
  expect(() => roleToScale(team({ name: 'a', count: 3 }), 'c')).toThrow('the team has no role "c"; it has a (3)');
});

it('has to be said where there are several, and is nobody where there is only a lead', () => {
  expect(() => roleToScale(team({ name: 'a' }, { name: 'lead' }, { name: 'b', count: 2 }), undefined)).toThrow(
    expect.objectContaining({ message: 'the team has several roles: a (1), b (2)', hint: 'say which one with --role' }),
  );
  expect(() => roleToScale(team({ name: 'lead' }), undefined)).toThrow('only a lead');
});

it('is changed alone, and where it stood', () => {
  expect(scalePatch({ name: 'dev', index: 1, count: 2 }, 4)).toEqual([
    { op: 'test', path: '/spec/roles/1/name', value: 'dev' },
    { op: 'add', path: '/spec/roles/1/count', value: 4 },
  ]);
});
