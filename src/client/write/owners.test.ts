import { describe, expect, it } from 'vitest';
import { LAST_APPLIED } from './last-applied.ts';
import { handedOver } from './owners.ts';

const entry = (manager: string, operation: string, fieldsV1: object, more: object = {}) => ({ manager, operation, fieldsV1, ...more });
const mine = entry('kubectl', 'Apply', { 'f:spec': { 'f:a': {} } });
const old = entry('kubectl-client-side-apply', 'Update', { 'f:spec': { '.': {}, 'f:a': {}, 'f:b': { 'f:c': {} } } });
const other = entry('somebody', 'Update', { 'f:spec': { 'f:b': {} } });

describe('handedOver', () => {
  it('unites the two ways of one person and leaves others alone', () => {
    expect(handedOver([mine, old, other], 'kubectl')).toEqual([
      entry('kubectl', 'Apply', { 'f:spec': { '.': {}, 'f:a': {}, 'f:b': { 'f:c': {} } } }),
      other,
    ]);
  });

  it('renames when the new way has nothing yet', () => {
    expect(handedOver([old], 'mine')).toEqual([{ ...old, manager: 'mine', operation: 'Apply' }]);
  });

  it('knows whoever wrote the note', () => {
    const noted = entry('agent', 'Update', { 'f:metadata': { 'f:annotations': { [`f:${LAST_APPLIED}`]: {} } } });
    expect(handedOver([mine, noted], 'kubectl')).toHaveLength(1);
  });

  it.each([
    { name: 'no managers', managers: undefined },
    { name: 'none of them', managers: [mine, other] },
    { name: 'only the status', managers: [mine, { ...old, subresource: 'status' }] },
  ])('has nothing to do with $name', ({ managers }) => {
    expect(handedOver(managers, 'kubectl')).toBeUndefined();
  });
});
