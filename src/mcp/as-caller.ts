/** A connection that shows a token with every request: what may be done is the API's to say, and it is asked as whoever called. */
import type { Connection } from '#client/connection.ts';

/** Without a header: as whoever may open the private socket. */
export function asCaller(connection: Connection, authorization: string | undefined): Connection {
  if (authorization === undefined) return connection;
  return {
    ...connection,
    endpoint: { ...connection.endpoint, headers: { authorization } },
    request: (request) => connection.request({ ...request, headers: { ...request.headers, authorization } }),
  };
}
