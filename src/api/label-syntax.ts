/** What keys and values of labels may look like, in Kubernetes' words. Finalizers and annotations have names of the same form. Pure. */

const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const NAME_PART = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const LABEL_VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;

export const SUBDOMAIN_TEXT =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const NAME_TEXT =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const LABEL_VALUE_TEXT =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

export function isSubdomain(name: string): boolean {
  return SUBDOMAIN.test(name);
}

/** Of `example.com/name` or `name`. `what`: how the whole is called when it has too many parts. */
export function qualifiedNameProblems(key: string, what = 'a valid label key'): string[] {
  const [name = '', prefix, ...more] = key.split('/').reverse();
  if (more.length > 0) return [`${what} ${NAME_TEXT} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  return [...prefixProblems(prefix), ...namePartProblems(name)];
}

function prefixProblems(prefix: string | undefined): string[] {
  if (prefix === undefined) return [];
  if (prefix === '') return ['prefix part must be non-empty'];
  return [
    ...(prefix.length > 253 ? ['prefix part must be no more than 253 characters'] : []),
    ...(SUBDOMAIN.test(prefix) ? [] : [`prefix part ${SUBDOMAIN_TEXT}`]),
  ];
}

function namePartProblems(name: string): string[] {
  return [
    ...(name === '' ? ['name part must be non-empty'] : []),
    ...(name.length > 63 ? ['name part must be no more than 63 characters'] : []),
    ...(NAME_PART.test(name) ? [] : [`name part ${NAME_TEXT}`]),
  ];
}

export function labelValueProblems(value: string): string[] {
  return [...(value.length > 63 ? ['must be no more than 63 characters'] : []), ...(LABEL_VALUE.test(value) ? [] : [LABEL_VALUE_TEXT])];
}
