import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { OF_LIST, OF_ROLE } from './spoken-for.ts';

const crd = parse(readFileSync(join(import.meta.dirname, '..', '..', 'crds', 'teams.yaml'), 'utf8'));
const { roles, tasks } = crd.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties;

/** Fields that may be absent. */
function optional(list: { items: { properties: Record<string, { default?: unknown }>; required: string[] } }): string[] {
  const { properties, required } = list.items;
  return Object.keys(properties).filter((field) => properties[field]?.default === undefined && !required.includes(field));
}

it('names every field of a role that may be taken back, but for the number of places, which the Agent has a default for', () => {
  expect([...OF_ROLE, 'maxConcurrentTasks'].toSorted()).toEqual(optional(roles).toSorted());
});

it('names every field of a listed task that may be taken back, but for who is to do it', () => {
  expect([...OF_LIST, 'assignTo'].toSorted()).toEqual(optional(tasks).toSorted());
});
