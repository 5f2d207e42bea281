import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeBody } from './decode.ts';
import { decodeProtobuf } from './protobuf.ts';
import { RequestError } from './request-error.ts';

/** An encoder of its own, by the description of the wire. */
function varint(value: number | bigint): number[] {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  do {
    const low = Number(rest % 128n);
    rest /= 128n;
    bytes.push(rest > 0n ? low + 128 : low);
  } while (rest > 0n);
  return bytes;
}

type Content = string | readonly number[];
const raw = (content: Content): number[] => (typeof content === 'string' ? [...Buffer.from(content)] : [...content]);
const field = (number: number, content: Content): number[] => [...varint(number * 8 + 2), ...varint(raw(content).length), ...raw(content)];
const integer = (number: number, value: number | bigint): number[] => [...varint(number * 8), ...varint(value)];
const entry = (number: number, key: string, value: Content): number[] => field(number, [...field(1, key), ...field(2, value)]);

function body(apiVersion: string, kind: string, message: readonly number[]): Uint8Array {
  const typeMeta = [...field(1, apiVersion), ...field(2, kind)];
  return Uint8Array.from([...raw('k8s\0'), ...field(1, typeMeta), ...field(2, message), ...field(3, ''), ...field(4, '')]);
}

const decode = (bytes: Uint8Array) => decodeBody('application/vnd.kubernetes.protobuf', bytes, { kind: 'Namespace' }).value;

/** What kubectl really sends: every field that is no pointer is there, even when it is empty. */
const emptyMeta = [2, 3, 4, 5, 6].flatMap((number) => field(number, ''));
const metaOf = (name: string) => field(1, [...field(1, name), ...emptyMeta, ...integer(7, 0), ...field(8, '')]);

describe('a body in protobuf', () => {
  /** Written by the serializer of Kubernetes itself. */
  it.each([
    [
      'a Namespace',
      '6b3873000a0f0a02763112094e616d65737061636512190a110a016e12001a0022002a0032003800420012001a020a001a002200',
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' }, spec: {}, status: {} },
    ],
    [
      'a SelfSubjectAccessReview',
      '6b3873000a320a17617574686f72697a6174696f6e2e6b38732e696f2f7631121753656c665375626a65637441636365737352657669657712490a100a0012001a0022002a00320038004200122b0a290a0764656661756c7412036765741a0c6167656e7469736f2e64657622002a057465616d7332003a001a08080012001a0020001a002200',
      {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SelfSubjectAccessReview',
        metadata: {},
        spec: { resourceAttributes: { namespace: 'default', verb: 'get', group: 'agentiso.dev', resource: 'teams' } },
      },
    ],
    [
      'DeleteOptions',
      '6b3873000a130a027631120d44656c6574654f7074696f6e73120708002a03416c6c1a002200',
      { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0, dryRun: ['All'] },
    ],
  ])('is what a real client sends as %s', (_, hex, expected) => {
    expect(decode(Buffer.from(hex, 'hex'))).toEqual(expected);
  });

  it('carries times as precise as they are', () => {
    const time = [...integer(1, 1_700_000_000), ...integer(2, 123_456_789)];
    const spec = [...field(1, 'me'), ...integer(2, 15), ...field(3, time), ...field(4, [...integer(1, 1_700_000_000)]), ...integer(5, 0)];
    expect(decode(body('coordination.k8s.io/v1', 'Lease', [...metaOf('l'), ...field(2, spec)]))).toMatchObject({
      metadata: { name: 'l' },
      spec: {
        holderIdentity: 'me',
        leaseDurationSeconds: 15,
        acquireTime: '2023-11-14T22:13:20.123456Z',
        renewTime: '2023-11-14T22:13:20.000000Z',
        leaseTransitions: 0,
      },
    });
    const event = [
      ...metaOf('e'),
      ...field(2, field(3, 'box')),
      ...field(7, time),
      ...integer(8, 2),
      ...field(10, time),
      ...field(14, 'me'),
    ];
    expect(decode(body('v1', 'Event', event))).toEqual({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'e' },
      involvedObject: { name: 'box' },
      lastTimestamp: '2023-11-14T22:13:20Z',
      count: 2,
      eventTime: '2023-11-14T22:13:20.123456Z',
      reportingComponent: 'me',
    });
    const other = [...metaOf('e'), ...field(2, time), ...field(4, 'me'), ...field(8, field(3, 'box')), ...field(10, 'note')];
    expect(decode(body('events.k8s.io/v1', 'Event', other))).toMatchObject({
      eventTime: '2023-11-14T22:13:20.123456Z',
      reportingController: 'me',
      regarding: { name: 'box' },
      note: 'note',
    });
  });

  it('carries all of the metadata', () => {
    const owner = [
      ...field(1, 'Team'),
      ...field(3, 't'),
      ...field(4, 'u'),
      ...field(5, 'agentiso.dev/v1alpha1'),
      ...integer(6, 1),
      ...integer(7, 0),
    ];
    const managed = [
      ...field(1, 'kubectl'),
      ...field(2, 'Update'),
      ...field(3, 'v1'),
      ...field(4, [...integer(1, 1_700_000_000), ...integer(2, 5)]),
      ...field(6, 'FieldsV1'),
      ...field(7, field(1, '{"f:data":{}}')),
      ...field(8, 'status'),
    ];
    const meta = [
      ...field(1, 'x'),
      ...field(2, 'x-'),
      ...field(3, 'ns'),
      ...field(4, '/self'),
      ...field(5, 'uid'),
      ...field(6, '12'),
      ...integer(7, 3),
      ...field(8, integer(1, 1_700_000_000)),
      ...field(9, integer(1, 1_700_000_060)),
      ...integer(10, 0),
      ...entry(11, 'a', '1'),
      ...entry(11, 'b', ''),
      ...entry(12, 'note', 'ü'),
      ...field(13, owner),
      ...field(14, 'one'),
      ...field(14, 'two'),
      ...field(17, managed),
      ...field(99, 'from the future'),
      ...integer(98, 1),
      ...[...varint(97 * 8 + 1), 1, 2, 3, 4, 5, 6, 7, 8],
      ...[...varint(96 * 8 + 5), 1, 2, 3, 4],
    ];
    expect(
      decode(body('v1', 'Namespace', [...field(1, meta), ...field(2, [...field(1, 'kubernetes')]), ...field(3, field(1, 'Active'))])),
    ).toEqual({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: {
        name: 'x',
        generateName: 'x-',
        namespace: 'ns',
        selfLink: '/self',
        uid: 'uid',
        resourceVersion: '12',
        generation: 3,
        creationTimestamp: '2023-11-14T22:13:20Z',
        deletionTimestamp: '2023-11-14T22:14:20Z',
        deletionGracePeriodSeconds: 0,
        labels: { a: '1', b: '' },
        annotations: { note: 'ü' },
        ownerReferences: [
          { kind: 'Team', name: 't', uid: 'u', apiVersion: 'agentiso.dev/v1alpha1', controller: true, blockOwnerDeletion: false },
        ],
        finalizers: ['one', 'two'],
        managedFields: [
          {
            manager: 'kubectl',
            operation: 'Update',
            apiVersion: 'v1',
            time: '2023-11-14T22:13:20Z',
            fieldsType: 'FieldsV1',
            fieldsV1: { 'f:data': {} },
            subresource: 'status',
          },
        ],
      },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    });
  });

  it.each([
    [
      'a ConfigMap',
      body('v1', 'ConfigMap', [
        ...metaOf('c'),
        ...entry(2, 'k', 'v'),
        ...entry(2, 'empty', ''),
        ...entry(3, 'bin', [0, 255]),
        ...integer(4, 0),
      ]),
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'c' },
        data: { k: 'v', empty: '' },
        binaryData: { bin: 'AP8=' },
        immutable: false,
      },
    ],
    [
      'a SelfSubjectAccessReview of a resource',
      body('authorization.k8s.io/v1', 'SelfSubjectAccessReview', [
        ...field(1, emptyMeta),
        ...field(
          2,
          field(
            1,
            ['ns', 'get', 'agentiso.dev', '*', 'teams', 'status', 'x'].flatMap((value, at) => field(at + 1, value)),
          ),
        ),
        ...field(3, integer(1, 0)),
      ]),
      {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SelfSubjectAccessReview',
        metadata: {},
        spec: {
          resourceAttributes: {
            namespace: 'ns',
            verb: 'get',
            group: 'agentiso.dev',
            version: '*',
            resource: 'teams',
            subresource: 'status',
            name: 'x',
          },
        },
      },
    ],
    [
      'a SelfSubjectAccessReview of a path',
      body('authorization.k8s.io/v1', 'SelfSubjectAccessReview', [...field(2, field(2, [...field(1, '/healthz'), ...field(2, 'get')]))]),
      {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SelfSubjectAccessReview',
        spec: { nonResourceAttributes: { path: '/healthz', verb: 'get' } },
      },
    ],
    [
      'a SelfSubjectRulesReview',
      body('authorization.k8s.io/v1', 'SelfSubjectRulesReview', [...field(1, emptyMeta), ...field(2, field(1, 'default'))]),
      { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectRulesReview', metadata: {}, spec: { namespace: 'default' } },
    ],
    [
      'a SelfSubjectReview',
      body('authentication.k8s.io/v1', 'SelfSubjectReview', [...field(1, emptyMeta), ...field(2, '')]),
      { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview', metadata: {} },
    ],
    [
      'DeleteOptions of any group',
      body('meta.k8s.io/v1', 'DeleteOptions', [
        ...integer(1, 0),
        ...field(2, [...field(1, 'u'), ...field(2, '5')]),
        ...integer(3, 0),
        ...field(4, 'Foreground'),
        ...field(5, 'All'),
      ]),
      {
        apiVersion: 'meta.k8s.io/v1',
        kind: 'DeleteOptions',
        gracePeriodSeconds: 0,
        preconditions: { uid: 'u', resourceVersion: '5' },
        orphanDependents: false,
        propagationPolicy: 'Foreground',
        dryRun: ['All'],
      },
    ],
    ['empty DeleteOptions', body('v1', 'DeleteOptions', []), { apiVersion: 'v1', kind: 'DeleteOptions' }],
    ['a negative number', body('v1', 'DeleteOptions', integer(1, -1)), { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: -1 }],
  ])('can be %s', (_, bytes, expected) => {
    expect(decode(bytes)).toEqual(expected);
  });

  it.each([
    ['v1', 'Pod'],
    ['apps/v1', 'Namespace'],
    ['', ''],
  ])('is refused when it is %s %s', (apiVersion, kind) => {
    expect(() => decode(body(apiVersion, kind, []))).toThrow(expect.objectContaining({ status: 415, reason: 'UnsupportedMediaType' }));
  });

  it.each([
    ['nothing', [], 'empty data'],
    ['another prefix', raw('{"a":1}'), 'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]'],
    ['a cut message', [...body('v1', 'Namespace', metaOf('n'))].slice(0, 30), 'proto: malformed message: unexpected end'],
    [
      'a number without end',
      [...raw('k8s\0'), ...Array.from({ length: 11 }, () => 0xff)],
      'proto: malformed message: a number of more than 64 bits',
    ],
    ['a group', [...raw('k8s\0'), 0x0b], 'proto: malformed message: wire type 3'],
    ['field number 0', [...raw('k8s\0'), 0x02, 0x00], 'proto: malformed message: field number 0'],
    [
      'a number for a name',
      [...body('v1', 'Namespace', field(1, integer(1, 5)))],
      'proto: malformed message: a number where text or a message was expected',
    ],
    ['a text for a number', [...body('v1', 'DeleteOptions', field(1, 'x'))], 'proto: malformed message: text where a number was expected'],
    ['bytes that are no text', [...body('v1', 'Namespace', field(1, field(1, [0xff])))], 'proto: invalid UTF-8'],
    [
      'a length beyond all bounds',
      [...raw('k8s\0'), 0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f],
      'proto: malformed message: unexpected end',
    ],
    ['__proto__', [...body('v1', 'ConfigMap', entry(2, '__proto__', 'x'))], '__proto__ cannot be a key'],
    [
      'a time beyond time',
      [...body('v1', 'Namespace', field(1, field(8, integer(1, 2n ** 62n))))],
      'proto: malformed message: a time that does not exist',
    ],
  ])('is refused with %s', (_, bytes, message) => {
    expect(() => decode(Uint8Array.from(bytes))).toThrow(
      expect.objectContaining({ status: 400, message: expect.stringContaining(message) }),
    );
  });

  it('never fails in another way, whatever the bytes', () => {
    const whole = body('v1', 'ConfigMap', [...metaOf('c'), ...entry(2, 'k', 'v'), ...entry(3, 'b', [1])]);
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat({ max: whole.length - 1 }), fc.nat({ max: 255 })), { maxLength: 4 }), (changes) => {
        const bytes = Uint8Array.from(whole);
        for (const [at, value] of changes) bytes[at] = value;
        try {
          decode(bytes);
        } catch (error) {
          expect(error).toBeInstanceOf(RequestError);
        }
      }),
      { numRuns: 1000 },
    );
  });

  it('takes no longer for many entries than for few, each', () => {
    const many = Array.from({ length: 20_000 }, (_, at) => entry(2, `k${at}`, 'v')).flat();
    expect(Object.keys(decodeProtobuf(body('v1', 'ConfigMap', many))['data'] as object)).toHaveLength(20_000);
  });
});
