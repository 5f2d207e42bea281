/** Which role of a team changes when the team is scaled, and the patch that does it. Pure. */
import { AgentisoError } from '#lib/errors.ts';
import { isObject, type JsonObject } from '#lib/json.ts';

export interface RoleToScale {
  readonly name: string;
  readonly index: number;
  readonly count: number;
}

/** The one that is asked for, else the only one there can be several of: a team has one lead. */
export function roleToScale(team: JsonObject, wanted: string | undefined): RoleToScale {
  const roles = rolesOf(team);
  if (wanted !== undefined) {
    const role = roles.find(({ name }) => name === wanted);
    if (role) return role;
    throw new AgentisoError('NotFound', `the team has no role ${JSON.stringify(wanted)}; it has ${listed(roles)}`);
  }
  const several = roles.filter(({ name }) => name !== 'lead');
  const [only] = several;
  if (only && several.length === 1) return only;
  const why = only ? `the team has several roles: ${listed(several)}` : 'the team has only a lead, and one lead is all there can be';
  throw new AgentisoError('Invalid', why, only ? { hint: 'say which one with --role' } : {});
}

function rolesOf({ spec }: JsonObject): RoleToScale[] {
  const roles = isObject(spec) && Array.isArray(spec['roles']) ? spec['roles'] : [];
  return roles.map((role, index) => ({ name: String(role.name), index, count: Number(role.count ?? 1) }));
}

function listed(roles: readonly RoleToScale[]): string {
  return roles.map(({ name, count }) => `${name} (${count})`).join(', ');
}

/** Nothing but this count, and only as long as the role stands where it stood. */
export function scalePatch({ name, index }: RoleToScale, count: number): JsonObject[] {
  const at = `/spec/roles/${index}`;
  return [
    { op: 'test', path: `${at}/name`, value: name },
    { op: 'add', path: `${at}/count`, value: count },
  ];
}
