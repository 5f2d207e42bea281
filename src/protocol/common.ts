/** What both kinds of connection have: the handshake and the question whether somebody is there. */
import { method } from './method.ts';
import { count, object, type Parsed, text } from './shape.ts';

/** Raised when old and new can no longer talk; `hello` stays readable to every generation. */
export const GENERATION = 3;

/** The logical ports, for complaints and cards. */
export const CONTROL_PORT = 5000;
export const RELAY_PORT = 5001;

const helloParams = object({
  generation: count,
  /** The workspace the host believes it has reached. */
  id: text,
  incarnation: text,
});
const helloResult = object({ generation: count, id: text, incarnation: text, version: text });
const pingResult = object({ version: text, generation: count, uptimeMs: count });

export const nothing = object({});

export type HelloParams = Parsed<typeof helloParams>;
export type HelloResult = Parsed<typeof helloResult>;
export type PingResult = Parsed<typeof pingResult>;

export const common = {
  hello: method(helloParams, helloResult),
  ping: method(nothing, pingResult),
};
