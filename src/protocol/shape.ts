/** Checks of plain JSON values, for everything that arrives from the other side. */
import { ProtocolError } from './protocol-error.ts';

export type Fields = Readonly<Record<string, unknown>>;

export function toFields(value: unknown, what: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new ProtocolError('Invalid', `${what} must be an object`);
  return value as Fields;
}

/** Own fields only: `constructor` and the like are not what the other side sent. */
export function fieldOf(fields: Fields, name: string): unknown {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}

export function stringOf(fields: Fields, name: string): string {
  const value = fieldOf(fields, name);
  if (typeof value !== 'string') throw new ProtocolError('Invalid', `${name} must be a string`);
  return value;
}

export function booleanOf(fields: Fields, name: string): boolean {
  const value = fieldOf(fields, name);
  if (typeof value !== 'boolean') throw new ProtocolError('Invalid', `${name} must be a boolean`);
  return value;
}

export function integerOf(fields: Fields, name: string, { min, max }: { min: number; max: number }): number {
  const value = fieldOf(fields, name);
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < min || value > max) {
    throw new ProtocolError('Invalid', `${name} must be a whole number from ${min} to ${max}`);
  }
  return value;
}

export function stringsOf(fields: Fields, name: string): string[] {
  const value = fieldOf(fields, name);
  if (!Array.isArray(value) || value.length === 0 || !value.every((item) => typeof item === 'string')) {
    throw new ProtocolError('Invalid', `${name} must be a list of strings, not empty`);
  }
  return value;
}

export function stringMapOf(fields: Fields, name: string): Record<string, string> {
  const entries = Object.entries(toFields(fieldOf(fields, name), name));
  return Object.fromEntries(
    entries.map(([key, value]) => {
      if (typeof value !== 'string') throw new ProtocolError('Invalid', `${name}.${key} must be a string`);
      return [key, value];
    }),
  );
}
