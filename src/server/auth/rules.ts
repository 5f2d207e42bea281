/**
 * What each role may ask for, as a table. Decisions (authorise.ts) and answers to "what can I do?" (reviews.ts) both read it,
 * so that they cannot disagree. An agent's rights are the resource side of its tools: it reads its own team's board, asks for help by
 * creating a Task (request_task), and as lead also runs the board (add, reassign, cancel). Messages, claims, results and sub-teams
 * go through the tools, which check more than a table can.
 */
import { GROUP } from '#api/meta.ts';
import type { AgentIdentity, Identity } from './identity.ts';

/** The shape of Kubernetes' ResourceRule, but `*` in resources means no subresource: to read everything is not to exec everywhere. */
export interface ResourceRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  /** `teams`, `teams/status`, `*`, or `*` + `/status`. */
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
}

export interface NonResourceRule {
  readonly verbs: readonly string[];
  /** A trailing `*` stands for anything. */
  readonly nonResourceURLs: readonly string[];
}

const READ = ['get', 'list', 'watch'];
const EVENT_GROUPS = ['', 'events.k8s.io'];
/** Reading these tells no more than reading the object; exec, attach, portforward and proxy act. */
const READABLE_SUBRESOURCES = ['*/status', '*/scale', '*/log'];
/** The reserved role of which a team has at most one; its agent has the same short name. */
const LEAD = 'lead';

const SELF_REVIEWS: readonly ResourceRule[] = [
  { verbs: ['create'], apiGroups: ['authorization.k8s.io'], resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'] },
  { verbs: ['create'], apiGroups: ['authentication.k8s.io'], resources: ['selfsubjectreviews'] },
];

/** In one namespace, or outside of all when it is undefined. */
export function resourceRules({ role, agent }: Identity, namespace: string | undefined): readonly ResourceRule[] {
  if (role === 'admin') return [{ verbs: ['*'], apiGroups: ['*'], resources: ['*', '*/*'] }];
  if (role === 'viewer') return [...SELF_REVIEWS, { verbs: READ, apiGroups: ['*'], resources: ['*', ...READABLE_SUBRESOURCES] }];
  return agent !== undefined && agent.namespace === namespace ? [...SELF_REVIEWS, ...teamRules(agent)] : SELF_REVIEWS;
}

function teamRules({ team, name }: AgentIdentity): ResourceRule[] {
  return [
    { verbs: ['get'], apiGroups: [GROUP], resources: ['teams', 'teams/status', 'teams/scale'], resourceNames: [team] },
    { verbs: ['list', 'watch'], apiGroups: [GROUP], resources: ['teams'] },
    { verbs: READ, apiGroups: [GROUP], resources: ['agents', 'tasks', 'merges', 'snapshots'] },
    { verbs: ['get'], apiGroups: [GROUP], resources: ['agents/status', 'tasks/status', 'merges/status', 'snapshots/status'] },
    // As it sees the agents; but not what they say, nor anything inside them, its own workspace included: there it is already.
    { verbs: READ, apiGroups: [''], resources: ['pods'] },
    { verbs: READ, apiGroups: EVENT_GROUPS, resources: ['events'] },
    { verbs: isLead(name) ? ['create', 'update', 'patch'] : ['create'], apiGroups: [GROUP], resources: ['tasks'] },
  ];
}

export function isLead(agentName: string): boolean {
  return agentName === LEAD;
}

const DISCOVERY = ['/api', '/api/*', '/apis', '/apis/*', '/openapi', '/openapi/*', '/version', '/version/'];
const HEALTH = ['/healthz', '/healthz/*', '/livez', '/livez/*', '/readyz', '/readyz/*'];

export function nonResourceRules({ role }: Identity): readonly NonResourceRule[] {
  if (role === 'admin') return [{ verbs: ['*'], nonResourceURLs: ['*'] }];
  const more = role === 'viewer' ? ['/metrics'] : [];
  return [{ verbs: ['get'], nonResourceURLs: [...DISCOVERY, ...HEALTH, ...more] }];
}
