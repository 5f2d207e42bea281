import { describe, expect, it } from 'vitest';
import { agentIdentity, personIdentity } from './auth/identity.ts';
import { type Desk, deskAt, onlyAdmins, readersAndAdmins } from './desk.ts';

const desk: Desk = { may: onlyAdmins, answer: async () => ({ status: 200, value: {} }) };

describe('deskAt', () => {
  it.each([
    ['/vault', ''],
    ['/vault/', ''],
    ['/vault/teams/a/notes/x.md', 'teams/a/notes/x.md'],
    ['/vault/a%20b/%C3%A4', 'a b/ä'],
  ])('%s is at the desk, below it %j', (path, below) => {
    expect(deskAt({ vault: desk }, path)).toEqual({ desk, path: below });
  });

  it.each(['/', '/vaults', '/other', '/vault/../tokens', '/vault/a/%2e%2e/b', '/vault/%00', '/vault/%zz', '/constructor', '/__proto__'])(
    '%s is at no desk',
    (path) => {
      expect(deskAt({ vault: desk }, path)).toBeUndefined();
    },
  );

  it('does not take an encoded slash for a step up', () => {
    expect(deskAt({ vault: desk }, '/vault/a%2f..%2f..%2fb')).toBeUndefined();
  });
});

describe('who may', () => {
  const [admin, viewer] = [personIdentity('admin', 'a'), personIdentity('viewer', 'v')];
  const agent = agentIdentity({ namespace: 'n', team: 't', name: 'x' });

  it.each([
    { may: onlyAdmins, method: 'GET', want: [true, false, false] },
    { may: readersAndAdmins, method: 'GET', want: [true, true, false] },
    { may: readersAndAdmins, method: 'PUT', want: [true, false, false] },
  ])('$may.name $method', ({ may, method, want }) => {
    expect([admin, viewer, agent].map((identity) => may(identity, method))).toEqual(want);
  });
});
