/** A lean etcd v3 client: one persistent connection, puts encoded ahead of time, nothing decoded that is not asked for. */
import { connectGrpc, frame, type GrpcConnection } from './grpc.ts';
import { bytesField, fieldsOf, varintField } from './protobuf.ts';

const PUT = '/etcdserverpb.KV/Put';
const RANGE = '/etcdserverpb.KV/Range';
const WATCH = '/etcdserverpb.Watch/Watch';

export interface EtcdClient {
  /** `request` comes from encodePut. Resolves when etcd has acknowledged: the write is in its synced log. */
  put(request: Buffer): Promise<unknown>;
  /** undefined: no such key. */
  get(key: string): Promise<Buffer | undefined>;
  stats(prefix: string): Promise<{ count: number; revision: number }>;
  /** Resolves when etcd has confirmed the watch. */
  watch(prefix: string, onValue: (value: Buffer) => void): Promise<() => void>;
  close(): void;
}

export function encodePut(key: string, value: Buffer): Buffer {
  return frame(Buffer.concat([bytesField(1, key), bytesField(2, value)]));
}

export function connectEtcd(url: string): EtcdClient {
  const connection = connectGrpc(url);
  return {
    put: (request) => connection.call(PUT, request),
    get: async (key) => firstValue(await connection.call(RANGE, frame(bytesField(1, key)))),
    stats: async (prefix) => decodeStats(await connection.call(RANGE, frame(Buffer.concat([prefixRange(prefix), varintField(9, 1)])))),
    watch: (prefix, onValue) => openWatch(connection, prefix, onValue),
    close: () => connection.close(),
  };
}

function openWatch(connection: GrpcConnection, prefix: string, onValue: (value: Buffer) => void): Promise<() => void> {
  return new Promise((resolve, reject) => {
    const stop = connection.stream(WATCH, frame(bytesField(1, prefixRange(prefix))), {
      message(reply) {
        for (const { number, value } of fieldsOf(reply)) {
          if (number === 3 && value === 1) resolve(stop);
          if (number === 11) onValue(eventValue(value as Buffer));
        }
      },
      error: reject, // after the confirmation nobody hears it; the missing event is then reported as lost
    });
  });
}

/** key and range_end of every key that starts with `prefix`. */
function prefixRange(prefix: string): Buffer {
  const end = Buffer.from(prefix);
  end.writeUInt8(end.readUInt8(end.length - 1) + 1, end.length - 1);
  return Buffer.concat([bytesField(1, prefix), bytesField(2, end)]);
}

function decodeStats(reply: Buffer): { count: number; revision: number } {
  return { count: numberAt(reply, 4), revision: numberAt(bytesAt(reply, 1), 3) };
}

function firstValue(reply: Buffer): Buffer | undefined {
  const pair = bytesAt(reply, 2);
  return pair.length === 0 ? undefined : bytesAt(pair, 5);
}

function eventValue(event: Buffer): Buffer {
  return bytesAt(bytesAt(event, 2), 5);
}

/** Absent fields are empty, as protobuf has it. */
function bytesAt(message: Buffer, wanted: number): Buffer {
  for (const { number, value } of fieldsOf(message)) if (number === wanted && typeof value !== 'number') return value;
  return Buffer.alloc(0);
}

function numberAt(message: Buffer, wanted: number): number {
  for (const { number, value } of fieldsOf(message)) if (number === wanted && typeof value === 'number') return value;
  return 0;
}
