/** Fields that have a value: what is not known is left out of answers and objects. Pure. */

type Given<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

export function given<T extends object>(fields: T): Given<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Given<T>;
}
