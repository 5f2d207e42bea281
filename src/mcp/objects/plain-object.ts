/** Objects as tools show them: without the records that only servers and kubectl read. Pure. */
import type { ApiObject } from '#client/resource-api.ts';
import { LAST_APPLIED } from '#client/write/last-applied.ts';
import { isObject } from '#lib/json.ts';
import { cutText } from './shorten.ts';

export function plainObject({ metadata, ...rest }: ApiObject): ApiObject {
  const { managedFields: _records, annotations, ...shown } = metadata;
  const { [LAST_APPLIED]: _note, ...kept } = annotations ?? {};
  const metadataShown = { ...shown, ...(Object.keys(kept).length > 0 ? { annotations: kept } : {}) };
  return { ...rest, metadata: metadataShown } as ApiObject;
}

export interface ObjectSummary {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  readonly version: string;
  readonly team?: string;
  readonly phase?: string;
  /** `Ready=False NetworkNotReady: …` of each condition. */
  readonly conditions?: readonly string[];
  readonly deleting?: true;
}

const MAX_CONDITION_BYTES = 300;

export function summaryOf({ kind, metadata, spec, status }: ApiObject): ObjectSummary {
  const { name = '', namespace, resourceVersion = '' } = metadata;
  const team = isObject(spec) && typeof spec['team'] === 'string' ? spec['team'] : undefined;
  const { phase, conditions } = isObject(status) ? status : {};
  const words = Array.isArray(conditions) ? conditions.filter(isObject).map(conditionText) : [];
  return {
    kind,
    name,
    ...(namespace ? { namespace } : {}),
    version: resourceVersion,
    ...(team === undefined ? {} : { team }),
    ...(typeof phase === 'string' ? { phase } : {}),
    ...(words.length > 0 ? { conditions: words } : {}),
    ...(metadata['deletionTimestamp'] === undefined ? {} : { deleting: true }),
  };
}

function conditionText({ type, status, reason, message }: Record<string, unknown>): string {
  const said = [reason, message].filter((word) => typeof word === 'string' && word !== '').join(': ');
  return cutText(`${type}=${status}${said === '' ? '' : ` ${said}`}`, MAX_CONDITION_BYTES);
}
