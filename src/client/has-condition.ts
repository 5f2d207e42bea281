/** Whether a condition of an object has a status, as `kubectl wait --for=condition` sees it. Pure. */
import { isObject } from '#lib/json.ts';
import type { ApiObject } from './resource-api.ts';

/** Both in lower case. What was found out about an older spec says nothing about this one. */
export function hasCondition({ metadata, status }: ApiObject, type: string, wanted: string): boolean {
  const { conditions, observedGeneration } = isObject(status) ? status : {};
  if (!Array.isArray(conditions)) return false;
  const found = conditions.find((each) => isObject(each) && String(each['type']).toLowerCase() === type) as
    | Record<string, unknown>
    | undefined;
  if (found === undefined) return false;
  const observed = found['observedGeneration'] ?? observedGeneration;
  if (typeof observed === 'number' && observed < Number(metadata['generation'] ?? 0)) return false;
  return String(found['status']).toLowerCase() === wanted;
}
