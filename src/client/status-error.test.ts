import { describe, expect, it } from 'vitest';
import { isNotFound, statusErrorOf } from './status-error.ts';

const status = (fields: object) => JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', ...fields });

describe('a refusal in kubectl’s words', () => {
  it.each([
    {
      http: 404,
      body: status({ reason: 'NotFound', message: 'teams.agentiso.dev "x" not found' }),
      code: 'NotFound',
      want: 'Error from server (NotFound): teams.agentiso.dev "x" not found',
    },
    {
      http: 401,
      body: status({ reason: 'Unauthorized', message: 'Unauthorized' }),
      code: 'Unauthenticated',
      want: 'error: You must be logged in to the server (Unauthorized)',
    },
    {
      http: 500,
      body: status({ message: 'failed to create typed patch object' }),
      code: 'Internal',
      want: 'Error from server: failed to create typed patch object',
    },
    { http: 410, body: status({ reason: 'Expired', message: 'too old' }), code: 'Expired', want: 'Error from server (Expired): too old' },
    {
      http: 404,
      body: '404 page not found',
      code: 'NotFound',
      want: 'Error from server (NotFound): the server could not find the requested resource',
    },
    { http: 502, body: '<html>bad gateway</html>', code: 'Internal', want: 'Error from server (Unknown): <html>bad gateway</html>' },
    { http: 503, body: '', code: 'Unavailable', want: 'Error from server (ServiceUnavailable): the server answered 503 without a word' },
    {
      http: 422,
      body: status({
        reason: 'Invalid',
        message: 'm',
        details: { kind: 'Team', name: 'x', causes: [{ field: 'spec.a', message: 'Required value' }] },
      }),
      code: 'Invalid',
      want: 'The Team "x" is invalid: spec.a: Required value',
    },
    {
      http: 422,
      body: status({
        reason: 'Invalid',
        message: 'm',
        details: {
          kind: 'Team',
          name: 'x',
          causes: [
            { field: 'spec.a', message: 'one' },
            { field: 'spec.b', message: 'two' },
            { field: 'spec.a', message: 'one' },
          ],
        },
      }),
      code: 'Invalid',
      want: 'The Team "x" is invalid: \n* spec.a: one\n* spec.b: two',
    },
    {
      http: 422,
      body: status({
        reason: 'Invalid',
        message: 'm',
        details: {
          causes: [
            {
              field: 'patch',
              message: `Invalid value: "{\\"a\\":\\"${'x'.repeat(300)}\\"}": strict decoding error: unknown field "spec.b"`,
            },
          ],
        },
      }),
      code: 'Invalid',
      want: 'The request is invalid: patch: strict decoding error: unknown field "spec.b"',
    },
    { http: 422, body: status({ reason: 'Invalid', message: 'no details' }), code: 'Invalid', want: 'The request is invalid: no details' },
  ])('$http $want', ({ http, body, code, want }) => {
    const error = statusErrorOf(http, body);
    expect([error.code, error.text]).toEqual([code, want]);
  });

  it('is recognised when it says that something is not there', () => {
    expect([isNotFound(statusErrorOf(404, '')), isNotFound(statusErrorOf(409, '')), isNotFound(new Error('x'))]).toEqual([
      true,
      false,
      false,
    ]);
  });
});
