/** Input fields that several tools share, with the limits of all of them: names, texts, times. */
import { DEFAULT_NAMESPACE } from '#api/meta.ts';
import { ProtocolError } from '#protocol/protocol-error.ts';
import { described, integer, type Parser, parser } from '#protocol/shape.ts';

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const MAX_NAME_CHARS = 63;
const RULE = `lower case letters, digits and -, 1 to ${MAX_NAME_CHARS} characters, beginning and ending with a letter or digit`;

/** RFC 1123: names of teams, agents, roles, namespaces. */
export const label: Parser<string> = parser(
  (value, what) => {
    if (typeof value === 'string' && value.length <= MAX_NAME_CHARS && LABEL.test(value)) return value;
    throw new ProtocolError('Invalid', `${what} must be a name: ${RULE}`, undefined, { field: what });
  },
  () => ({ type: 'string', pattern: LABEL.source, maxLength: MAX_NAME_CHARS }),
);

/** What else is legal where Kubernetes names things: `system:node:x`, `sprint.1a2b`. */
const ANY_NAME = /^[a-zA-Z0-9]([-a-zA-Z0-9.:]{0,251}[a-zA-Z0-9])?$/;

export const objectName: Parser<string> = parser(
  (value, what) => {
    if (typeof value === 'string' && ANY_NAME.test(value)) return value;
    throw new ProtocolError('Invalid', `${what} must be the name of an object: letters, digits, - and .`, undefined, { field: what });
  },
  () => ({ type: 'string', maxLength: 253 }),
);

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this looks for.
const CONTROL = /[\x00-\x08\x0b-\x1f\x7f]/;

/** At most so many bytes, and no control characters but tab and line end. */
export function plainText(maxBytes: number): Parser<string> {
  return parser(
    (value, what) => {
      if (typeof value !== 'string') throw new ProtocolError('Invalid', `${what} must be a string`, undefined, { field: what });
      if (Buffer.byteLength(value) > maxBytes) {
        throw new ProtocolError('TooLarge', `${what} has ${Buffer.byteLength(value)} bytes; at most ${maxBytes}`, undefined, {
          field: what,
        });
      }
      if (CONTROL.test(value.replaceAll('\r\n', '\n'))) {
        const message = `${what} has control characters; only tab and line end are accepted`;
        throw new ProtocolError('Invalid', message, undefined, { field: what });
      }
      return value;
    },
    () => ({ type: 'string', maxLength: maxBytes }),
  );
}

export const kindField = described(
  plainText(100),
  'Team, Agent, Task, Merge, Snapshot, Event, Namespace, ConfigMap or Pod; also plurals and short names: tm, ag, tk, mg, snap.',
);
export const namespaceField = described(label, `The namespace; ${DEFAULT_NAMESPACE} when absent.`);
export const teamField = described(label, 'Name of the team, as team_list gives it.');
export const manifestField = described(
  plainText(1024 * 1024),
  'YAML or JSON text; several documents are separated by ---. Each has apiVersion: agentiso.dev/v1alpha1, kind, metadata.name and spec.',
);

export const MAX_WAIT_SECONDS = 120;

export function waitSeconds(usual: number): Parser<number> {
  return described(integer({ min: 1, max: MAX_WAIT_SECONDS }), `How long to wait at most; ${usual} when absent.`);
}

/** The wait, and time for what comes before and after it. */
export function waitDeadlineMs(seconds: number): number {
  return (seconds + 30) * 1_000;
}
