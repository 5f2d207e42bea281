/** `/tokens`: an admin gives others a way in, sees who has one, and takes it away again. A token is shown once, when it is made. */
import { isObject } from '#lib/json.ts';
import { type AgentIdentity, agentIdentity, agentOfUser } from './auth/identity.ts';
import type { TokenRequest, TokenStore } from './auth/tokens.ts';
import { decodeBody } from './body/decode.ts';
import type { Answer } from './call.ts';
import { type Desk, type DeskRequest, onlyAdmins } from './desk.ts';
import { badRequest, failure } from './status.ts';

export interface TokenDesk extends Desk {
  answer(request: Pick<DeskRequest, 'method' | 'path' | 'query' | 'contentType' | 'body'>): Promise<Answer>;
}

export interface TokenDeskOptions {
  readonly tokens: Pick<TokenStore, 'issue' | 'list' | 'revokeUser'>;
  /** The file that lets kubectl in with this token. */
  readonly kubeconfig: (token: string) => string;
  /** Whoever was let in by a token that is gone is shown out. */
  readonly onRevoked: (user: string) => void;
}

export function tokenDesk({ tokens, kubeconfig, onRevoked }: TokenDeskOptions): TokenDesk {
  return {
    may: onlyAdmins,
    async answer({ method, path, query, contentType, body }) {
      if (path !== '') throw failure(404, `there is nothing at /tokens/${path}`);
      switch (method) {
        case 'GET':
          return json(200, { items: tokens.list() });
        case 'POST': {
          const request = asked(decodeBody(contentType, await body(), { kind: 'token' }).value);
          const token = await tokens.issue(request);
          return json(201, { ...subjectOf(request), token, kubeconfig: kubeconfig(token) });
        }
        case 'DELETE': {
          const user = query.get('user');
          if (!user) throw badRequest('whose tokens? Give ?user=NAME');
          const revoked = await tokens.revokeUser(user);
          if (revoked === 0) throw failure(404, `nobody called ${JSON.stringify(user)} has a token`);
          onRevoked(user);
          return json(200, { user, revoked });
        }
        default:
          throw failure(405, 'tokens are listed by GET, made by POST and taken away by DELETE');
      }
    },
  };
}

function subjectOf(request: TokenRequest): { readonly user: string; readonly role: string } {
  const { user, role } = 'agent' in request ? agentIdentity(request.agent) : request;
  return { user, role };
}

function asked(value: unknown): TokenRequest {
  const { user, role } = isObject(value) ? value : {};
  if (typeof role === 'string' && role.startsWith(AGENT)) return { agent: agentIn(role, user) };
  if (typeof user !== 'string' || user === '') throw badRequest('user: Required value: who the token is for');
  if (role === 'admin' || role === 'viewer') return { user, role };
  throw badRequest(
    `role: Unsupported value: ${JSON.stringify(role ?? '')}: supported values: "admin", "viewer", "${AGENT}NAMESPACE/TEAM/AGENT"`,
  );
}

const AGENT = 'agent:';

/** It need not exist yet; until then its token opens nothing. */
function agentIn(role: string, user: unknown): AgentIdentity {
  const agent = agentOfUser(role);
  if (!agent) throw badRequest(`role: Invalid value: ${JSON.stringify(role)}: an agent is ${AGENT}NAMESPACE/TEAM/AGENT`);
  if (user !== undefined && user !== role) throw badRequest(`user: Invalid value: the token of an agent is its own; leave out user`);
  return agent;
}

function json(status: number, value: unknown): Answer {
  return { status, body: JSON.stringify(value) };
}
