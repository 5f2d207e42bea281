/** The one rule for names of our own kinds: RFC 1123 labels, so that a name is also a file name, a host name and a part of a branch name. */

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const MAX_LENGTH = 63;

export function isName(name: unknown): name is string {
  return typeof name === 'string' && name.length <= MAX_LENGTH && LABEL.test(name);
}
