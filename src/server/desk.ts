/**
 * Desks: what the API offers beside resources, each below one path of its own (`/messages`, `/vault`). The composition says what a desk
 * does; who asks, how large a body may be, and how answers and refusals look on the wire is the same for all of them. A refusal is an
 * AgentisoError, its message and hint meant for the person who asked.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Identity } from './auth/identity.ts';
import type { Answer } from './call.ts';

export interface DeskRequest {
  /** In capitals. HEAD never comes here. */
  readonly method: string;
  /** Below the desk's own path, decoded, without slashes around it; empty for the desk itself. It never climbs. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly contentType: string | undefined;
  readonly identity: Identity;
  /** Aborts when the client is gone, when its token is taken away, and when the server ends. */
  readonly signal: AbortSignal;
  /** The whole body as it came; at most 3 MiB. */
  body(): Promise<Buffer>;
  /** The same, read as a JSON or YAML object. */
  fields(): Promise<Readonly<Record<string, unknown>>>;
}

export type DeskAnswer =
  | Answer
  /** One JSON document. */
  | { readonly status: number; readonly value: unknown }
  /** One JSON document per line, each on its way as soon as it is there, for as long as the client listens. */
  | { readonly status: number; readonly lines: AsyncIterable<unknown> }
  /** Bytes as they come, at the client's pace. */
  | {
      readonly status: number;
      readonly bytes: AsyncIterable<Uint8Array>;
      readonly contentType: string;
      readonly headers?: Readonly<Record<string, string>>;
    };

/** A request as it is, for a desk with a protocol of its own: nothing of its body is read yet. */
export interface RawDeskRequest extends Pick<DeskRequest, 'path' | 'identity' | 'signal'> {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Takes a place among the user's streams, until it is left; refused when there are too many. Its signal aborts when the stream must end. */
  enter(): { readonly signal: AbortSignal; leave(): void };
}

export interface Desk {
  /** Whether this one may come here at all, with this method. Asked before anything is read. */
  may(identity: Identity, method: string): boolean;
  answer(request: DeskRequest): Promise<DeskAnswer>;
  /** Instead of `answer`: answers by itself, and resolves when the answer is over. What it throws before it answered is a refusal. */
  serve?(request: RawDeskRequest): Promise<void>;
  /** A token of this user was taken away, or, without one, the server ends: so does what is under way here. */
  end?(user?: string): void;
}

/** By the first part of the path: `messages` answers `/messages` and all below it. */
export type Desks = Readonly<Record<string, Desk>>;

export const onlyAdmins: Desk['may'] = ({ role }) => role === 'admin';
/** Viewers read, admins do everything, agents have other doors. */
export const readersAndAdmins: Desk['may'] = ({ role }, method) => role === 'admin' || (role === 'viewer' && method === 'GET');

export interface DeskPlace {
  readonly desk: Desk;
  readonly path: string;
}

/** Undefined: no desk has this path. One that cannot be decoded, or climbs, is nobody's. Pure. */
export function deskAt(desks: Desks, path: string): DeskPlace | undefined {
  const [, name = '', ...rest] = path.split('/');
  const desk = Object.hasOwn(desks, name) ? desks[name] : undefined;
  const below = decoded(rest.join('/'));
  if (!desk || below === undefined || below.includes('\0') || below.split('/').some((part) => part === '.' || part === '..'))
    return undefined;
  return { desk, path: below.replace(/^\/+|\/+$/g, '') };
}

function decoded(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}
