/** DeleteOptions from the body and the query, checked. */
import { isObject, type JsonObject } from '#lib/json.ts';
import type { DeleteRequest } from '#store/rules.ts';
import { decodeBody } from './body/decode.ts';
import type { Call } from './call.ts';
import { flag, integer, invalidOptions, text } from './params.ts';
import { badRequest, type StatusCause } from './status.ts';
import { dryRunProblem } from './write-options.ts';

export interface DeleteAsked {
  readonly request: DeleteRequest;
  readonly dryRun: boolean;
}

const POLICIES = ['Foreground', 'Background', 'Orphan'] as const;
type Policy = (typeof POLICIES)[number];

export async function deleteAsked(call: Call): Promise<DeleteAsked> {
  const bytes = await call.body();
  const { dryRun, propagationPolicy, orphanDependents, preconditions } = bytes.length === 0 ? fromQuery(call.query) : fromBody(call, bytes);
  const causes: StatusCause[] = [];
  if (orphanDependents !== undefined && propagationPolicy) causes.push(bothProblem(propagationPolicy));
  if (propagationPolicy !== undefined && !isPolicy(propagationPolicy)) causes.push(policyProblem(propagationPolicy));
  if (dryRun.some((value) => value !== 'All')) causes.push(dryRunProblem(dryRun));
  if (causes.length > 0) throw invalidOptions('DeleteOptions', causes);
  const policy = propagationPolicy ?? policyOf(orphanDependents);
  return {
    dryRun: dryRun.length > 0,
    request: {
      ...(policy === undefined ? {} : { propagationPolicy: policy as Policy }),
      ...(preconditions ? { preconditions } : {}),
    },
  };
}

interface Options {
  readonly dryRun: readonly string[];
  readonly propagationPolicy: string | undefined;
  readonly orphanDependents: boolean | undefined;
  readonly preconditions?: DeleteRequest['preconditions'];
}

function fromQuery(query: URLSearchParams): Options {
  integer(query, 'gracePeriodSeconds');
  return {
    dryRun: query.getAll('dryRun').filter((value) => value !== ''),
    propagationPolicy: text(query, 'propagationPolicy'),
    orphanDependents: query.has('orphanDependents') ? flag(query, 'orphanDependents') : undefined,
  };
}

/** A body is all there is: what the query says beside it counts for nothing. */
function fromBody(call: Call, bytes: Buffer): Options {
  const { value } = decodeBody(call.headers['content-type'], bytes, { kind: 'DeleteOptions' });
  const { kind, dryRun, propagationPolicy: policy, orphanDependents: orphans, preconditions } = value;
  if (kind && kind !== 'DeleteOptions') throw badRequest(`the body of a deletion has to be DeleteOptions, not ${JSON.stringify(kind)}`);
  return {
    dryRun: Array.isArray(dryRun) ? dryRun.map(String).filter((word) => word !== '') : [],
    propagationPolicy: policy === undefined || policy === null ? undefined : String(policy),
    orphanDependents: typeof orphans === 'boolean' ? orphans : undefined,
    ...(isObject(preconditions) ? { preconditions: preconditionsOf(preconditions) } : {}),
  };
}

function bothProblem(policy: string): StatusCause {
  const message = `Invalid value: ${JSON.stringify(policy)}: orphanDependents and deletionPropagation cannot be both set`;
  return { reason: 'FieldValueInvalid', message, field: 'propagationPolicy' };
}

/** orphanDependents is how policies were written before there were policies. */
function policyOf(orphanDependents: boolean | undefined): Policy | undefined {
  if (orphanDependents === undefined) return undefined;
  return orphanDependents ? 'Orphan' : 'Background';
}

function isPolicy(word: string): word is Policy {
  return (POLICIES as readonly string[]).includes(word);
}

function policyProblem(word: string): StatusCause {
  const supported = [...POLICIES, 'nil'].map((policy) => JSON.stringify(policy)).join(', ');
  return {
    reason: 'FieldValueNotSupported',
    message: `Unsupported value: ${JSON.stringify(word)}: supported values: ${supported}`,
    field: 'propagationPolicy',
  };
}

function preconditionsOf({ uid, resourceVersion }: JsonObject): NonNullable<DeleteRequest['preconditions']> {
  return {
    ...(typeof uid === 'string' ? { uid } : {}),
    ...(typeof resourceVersion === 'string' ? { resourceVersion } : {}),
  };
}
