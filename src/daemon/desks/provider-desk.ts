/** `/providers`: for which providers of models the daemon has a credential, and where from. Never what it is. */

import { NotFoundError } from '#lib/errors.ts';
import { type CredentialSource, viewOf } from '#providers/credential-file.ts';
import { type Desk, readersAndAdmins } from '#server/desk.ts';

export function createProviderDesk(credentials: Pick<CredentialSource, 'names' | 'origin' | 'problem'>): Desk {
  return {
    may: readersAndAdmins,
    async answer({ method, path }) {
      if (method !== 'GET' || path !== '') throw new NotFoundError(`there is no ${method} /providers/${path}; there is GET /providers`);
      return { status: 200, value: viewOf(credentials) };
    },
  };
}
