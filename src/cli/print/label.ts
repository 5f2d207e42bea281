/** `creationTimestamp` as `Creation Timestamp`: names of fields as kubectl describe shows them. */

const ACRONYMS = ['API', 'URL', 'UID', 'OSB', 'GUID'];

export function smartLabel(field: string): string {
  // A key that a person chose, such as a label's, stays as it is.
  if (!/^[\p{L}-]+$/u.test(field)) return field;
  const parts = field.match(/\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|\p{L}|-+/gu) ?? [field];
  return parts
    .map((part) => (ACRONYMS.includes(part.toUpperCase()) ? part.toUpperCase() : part.charAt(0).toUpperCase() + part.slice(1)))
    .join(' ');
}
