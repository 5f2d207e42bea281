/** The one way to say who one is: `Authorization: Bearer TOKEN`. */
import type { Identity } from './identity.ts';

export function identityFromHeader(
  header: string | undefined,
  tokens: { identityOf(token: string): Identity | undefined },
): Identity | undefined {
  const [, token] = /^bearer +([-A-Za-z0-9._~+/]+=*) *$/i.exec(header ?? '') ?? [];
  return token === undefined ? undefined : tokens.identityOf(token);
}
