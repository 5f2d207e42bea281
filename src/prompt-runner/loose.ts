/** What agents send, read without trust in its form: whatever is not as expected is as if it were not there. Pure. */

export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function textIn(value: unknown, name: string): string | undefined {
  const found = isFields(value) ? value[name] : undefined;
  return typeof found === 'string' ? found : undefined;
}

export function numberIn(value: unknown, name: string): number | undefined {
  const found = isFields(value) ? value[name] : undefined;
  return typeof found === 'number' && Number.isFinite(found) && found >= 0 ? found : undefined;
}

export function fieldsIn(value: unknown, name: string): Fields | undefined {
  const found = isFields(value) ? value[name] : undefined;
  return isFields(found) ? found : undefined;
}
