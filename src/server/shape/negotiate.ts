/** Which form of the answer a client asks for in its Accept header. Pure. */
import { type Clause, parseAccept } from './accept.ts';

export interface Negotiated {
  readonly as: 'object' | 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList';
  /** Of meta.k8s.io; says nothing for plain objects. */
  readonly version: 'v1' | 'v1beta1';
  readonly format: 'json' | 'yaml';
  readonly pretty?: true;
  /** Of a list of metadata: it named that first, and takes this because we have no other. */
  readonly prefersProtobuf?: true;
}

export interface Possible {
  readonly canBeTable: boolean;
  readonly canBePartial: boolean;
  /** A watch: YAML has no framing for it. */
  readonly isStream?: boolean;
}

const PLAIN: Negotiated = { as: 'object', version: 'v1', format: 'json' };
const PROTOBUF = 'vnd.kubernetes.protobuf';
const FORMATS = ['json', 'yaml'] as const;

/** Undefined: nothing the client accepts can be given, which is a 406. */
export function negotiate(accept: string | undefined, possible: Possible): Negotiated | undefined {
  if (accept === undefined || accept === '' || accept === '*/*' || accept === 'application/json') return PLAIN;
  let prefersProtobuf = false;
  for (const clause of parseAccept(accept)) {
    const found = satisfy(clause, possible);
    if (found && possible.isStream && found.format === 'yaml') return undefined;
    if (found) return prefersProtobuf && found.as === 'PartialObjectMetadataList' ? { ...found, prefersProtobuf } : found;
    prefersProtobuf ||= clause.subtype === PROTOBUF;
  }
  return undefined;
}

function satisfy(clause: Clause, possible: Possible): Negotiated | undefined {
  for (const format of FORMATS) {
    if (!matches(clause, format)) continue;
    const found = withParameters(clause.parameters, format, possible);
    if (found) return found;
  }
  return undefined;
}

function matches({ type, subtype }: Clause, format: string): boolean {
  if (type === '*') return subtype === '*';
  return type === 'application' && (subtype === '*' || subtype === format);
}

/** Parameters nobody knows are no reason to refuse. */
function withParameters(parameters: Clause['parameters'], format: Negotiated['format'], possible: Possible): Negotiated | undefined {
  const stream = parameters.get('stream') ?? '';
  if (stream !== '' && (stream !== 'watch' || format === 'yaml')) return undefined;
  if ((parameters.get('sv') ?? 'v1') !== 'v1') return undefined;
  const target = targetOf(parameters, possible);
  if (!target) return undefined;
  return { ...target, format, ...(parameters.get('pretty') === '1' ? { pretty: true } : {}) };
}

function targetOf(parameters: Clause['parameters'], possible: Possible): Pick<Negotiated, 'as' | 'version'> | undefined {
  const [as, group, version] = ['as', 'g', 'v'].map((name) => parameters.get(name));
  if (as === undefined && group === undefined && version === undefined) return { as: 'object', version: 'v1' };
  if (group !== 'meta.k8s.io' || (version !== 'v1' && version !== 'v1beta1')) return undefined;
  if (as === 'Table') return possible.canBeTable ? { as, version } : undefined;
  if (as !== 'PartialObjectMetadata' && as !== 'PartialObjectMetadataList') return undefined;
  return possible.canBePartial ? { as, version } : undefined;
}
