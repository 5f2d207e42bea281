/** One request to a resource, and what answers it. */
import type { IncomingHttpHeaders } from 'node:http';
import type { KnownModels } from '#api/known-models.ts';
import type { Limits } from '#api/limits.ts';
import type { KindObject } from '#api/meta.ts';
import type { Clock } from '#lib/clock.ts';
import type { Store } from '#store/store.ts';
import type { Identity } from './auth/identity.ts';
import type { Lookup } from './auth/visibility.ts';
import type { Resource } from './resources.ts';
import type { Route } from './route.ts';
import type { Negotiated } from './shape/negotiate.ts';
import type { Source } from './source.ts';

export interface Call {
  readonly route: Route;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly identity: Identity;
  /** The form in which the client wants the answer. */
  readonly shape: Negotiated;
  /** What the client is told besides the answer, whatever the answer is. */
  readonly warnings: string[];
  /** The whole body; refused when it is larger than any object can be. */
  body(): Buffer | Promise<Buffer>;
}

export interface Answer {
  readonly status: number;
  readonly body: string | Buffer;
  /** What the body says, where it is one object. The store's own: not to be changed. */
  readonly object?: KindObject;
  /** JSON when absent. */
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
}

/** What the verbs work on. */
export interface Serving {
  readonly store: Store;
  readonly clock: Clock;
  sourceOf(resource: Resource): Source;
  /** A stored object as this resource shows it. */
  shown(resource: Resource, object: KindObject): KindObject;
  readonly lookup: Lookup;
  /** What the front door counts against. Absent: there is no front door, as in a plain Kubernetes. */
  readonly limits?: Limits;
  /** Which models providers have, where that is known. */
  readonly models?: KnownModels;
}
