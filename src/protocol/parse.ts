/** Parsers of every method's params and result: neither side uses what the other sent before it went through here. */
import {
  type ExecParams,
  type ExecResult,
  type HelloParams,
  type HelloResult,
  MAX_EXEC_TIMEOUT_MS,
  type MethodName,
  type NoFields,
  type Params,
  type PingResult,
  type Result,
} from './messages.ts';
import { ProtocolError } from './protocol-error.ts';
import { booleanOf, fieldOf, integerOf, stringMapOf, stringOf, stringsOf, toFields } from './shape.ts';

type Parsers = { readonly [M in MethodName]: { params(value: unknown): Params<M>; result(value: unknown): Result<M> } };

const COUNT = { min: 0, max: Number.MAX_SAFE_INTEGER };
const INT32 = { min: -0x8000_0000, max: 0x7fff_ffff };

export const parsers: Parsers = {
  hello: { params: parseHelloParams, result: parseHelloResult },
  ping: { params: parseNoFields, result: parsePingResult },
  exec: { params: parseExecParams, result: parseExecResult },
  shutdown: { params: parseNoFields, result: parseNoFields },
};

function parseNoFields(value: unknown): NoFields {
  toFields(value, 'the value');
  return {};
}

function parseHelloParams(value: unknown): HelloParams {
  const fields = toFields(value, 'hello');
  return { generation: integerOf(fields, 'generation', COUNT), id: stringOf(fields, 'id'), incarnation: stringOf(fields, 'incarnation') };
}

function parseHelloResult(value: unknown): HelloResult {
  return { ...parseHelloParams(value), version: stringOf(toFields(value, 'hello'), 'version') };
}

function parsePingResult(value: unknown): PingResult {
  const fields = toFields(value, 'ping');
  return {
    version: stringOf(fields, 'version'),
    generation: integerOf(fields, 'generation', COUNT),
    uptimeMs: integerOf(fields, 'uptimeMs', COUNT),
  };
}

function parseExecParams(value: unknown): ExecParams {
  const fields = toFields(value, 'exec');
  const hasCommand = fieldOf(fields, 'command') !== undefined;
  if (hasCommand === (fieldOf(fields, 'argv') !== undefined)) throw new ProtocolError('Invalid', 'exec needs either command or argv');
  return {
    ...(hasCommand ? { command: stringOf(fields, 'command') } : { argv: stringsOf(fields, 'argv') }),
    ...(fieldOf(fields, 'cwd') !== undefined && { cwd: stringOf(fields, 'cwd') }),
    ...(fieldOf(fields, 'env') !== undefined && { env: stringMapOf(fields, 'env') }),
    timeoutMs: integerOf(fields, 'timeoutMs', { min: 1, max: MAX_EXEC_TIMEOUT_MS }),
  };
}

function parseExecResult(value: unknown): ExecResult {
  const fields = toFields(value, 'exec');
  return {
    exitCode: integerOf(fields, 'exitCode', INT32),
    stdout: stringOf(fields, 'stdout'),
    stderr: stringOf(fields, 'stderr'),
    stdoutTruncated: booleanOf(fields, 'stdoutTruncated'),
    stderrTruncated: booleanOf(fields, 'stderrTruncated'),
    timedOut: booleanOf(fields, 'timedOut'),
    elapsedMs: integerOf(fields, 'elapsedMs', COUNT),
  };
}
