/** Output that is one JSON object per line, between lines that are not. Pure. */
import { isObject, type JsonObject } from '#lib/json.ts';

export function jsonLines(text: string): JsonObject[] {
  return text.split('\n').flatMap((line) => {
    if (!line.startsWith('{')) return [];
    try {
      const value: unknown = JSON.parse(line);
      return isObject(value) ? [value] : [];
    } catch {
      // A line of somebody who only begins like JSON.
      return [];
    }
  });
}

/** Empty where it is no object. */
export function objectIn(value: JsonObject | undefined, name: string): JsonObject {
  const member = value?.[name];
  return isObject(member) ? member : {};
}

/** Its objects; none where it is no list. */
export function objectsIn(value: JsonObject, name: string): JsonObject[] {
  const member = value[name];
  return Array.isArray(member) ? member.filter(isObject) : [];
}

/** An agent may speak of one thing several times: how many things there are, by what names them. */
export function countBy(objects: readonly JsonObject[], id: string): number {
  return new Set(objects.map((object) => textIn(object, id))).size;
}

/** 0 where it is no number. */
export function numberIn(value: JsonObject, name: string): number {
  const member = value[name];
  return typeof member === 'number' && Number.isFinite(member) ? member : 0;
}

/** Empty where it is no text. */
export function textIn(value: JsonObject | undefined, name: string): string {
  const member = value?.[name];
  return typeof member === 'string' ? member : '';
}

export function jsonFile(value: object): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
