/** Who is asking. An identity comes from the token that a request carries, never from anything else it says. */
import { isName } from '#api/names.ts';
import { InvalidError } from '#lib/errors.ts';

/** An agent by its short name: `coder` of the team `sprint`, whatever the object is called. */
export interface AgentIdentity {
  readonly namespace: string;
  readonly team: string;
  readonly name: string;
}

export interface Identity {
  readonly user: string;
  readonly groups: readonly string[];
  readonly role: Role;
  /** Present for the role agent, and only then. */
  readonly agent?: AgentIdentity;
}

export type Role = 'admin' | 'viewer' | 'agent';

/** Kubernetes' name for whoever showed a valid token. */
const AUTHENTICATED = 'system:authenticated';

/** People and programs outside the teams. `system:masters` is Kubernetes' name for those who may do everything. */
export function personIdentity(role: 'admin' | 'viewer', user: string): Identity {
  const group = role === 'admin' ? 'system:masters' : 'agentiso:viewers';
  return Object.freeze({ user, role, groups: Object.freeze([group, AUTHENTICATED]) });
}

/** `agent:NAMESPACE/TEAM/NAME`; undefined for anything else. */
export function agentOfUser(user: string): AgentIdentity | undefined {
  const [, namespace = '', team = '', name = ''] = /^agent:([^/]+)\/([^/]+)\/([^/]+)$/.exec(user) ?? [];
  return [namespace, team, name].every(isName) ? { namespace, team, name } : undefined;
}

export function agentIdentity({ namespace, team, name }: AgentIdentity): Identity {
  const bad = [namespace, team, name].find((part) => !isName(part));
  if (bad !== undefined) throw new InvalidError(`${JSON.stringify(bad)} is no name that an agent's identity can hold`);
  return Object.freeze({
    user: `agent:${namespace}/${team}/${name}`,
    role: 'agent',
    groups: Object.freeze(['agentiso:agents', `agentiso:team:${namespace}/${team}`, AUTHENTICATED]),
    agent: Object.freeze({ namespace, team, name }),
  });
}
