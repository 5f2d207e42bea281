import { expect, it } from 'vitest';
import { boxFixture, newBox } from './box.fixture.ts';
import { ownedBy, ownedWatch, setControllerOwner } from './owner.ts';

async function setUp() {
  const { client } = boxFixture();
  const [owner, stranger] = [await client.create(newBox('owner')), await client.create(newBox('stranger'))];
  const draft = { apiVersion: 'test/v1', kind: 'Lid', metadata: { name: 'lid', namespace: 'default' } };
  return { client, owner, stranger, draft };
}

it('makes a child that its owner is told about', async () => {
  const { client, owner, stranger, draft } = await setUp();
  setControllerOwner(draft, owner);
  setControllerOwner(draft, owner);
  const child = await client.create(draft);
  const { uid } = owner.metadata;
  expect(child.metadata.ownerReferences).toEqual([
    { apiVersion: 'test/v1', kind: 'Box', name: 'owner', uid, controller: true, blockOwnerDeletion: true },
  ]);
  expect([ownedBy(child, owner), ownedBy(child, stranger)]).toEqual([true, false]);
  expect(ownedWatch('Lid').toKeys(child, 'ADDED')).toEqual([{ kind: 'Box', namespace: 'default', name: 'owner' }]);
  expect(ownedWatch('Lid').toKeys(stranger, 'ADDED')).toEqual([]);
});

it('never takes a child away from another owner', async () => {
  const { owner, stranger, draft } = await setUp();
  setControllerOwner(draft, owner);
  expect(() => setControllerOwner(draft, stranger)).toThrow('belongs to Box owner');
});

it('refuses an owner in another namespace', async () => {
  const { owner, draft } = await setUp();
  expect(() => setControllerOwner({ ...draft, metadata: { name: 'lid', namespace: 'elsewhere' } }, owner)).toThrow('namespace');
});
