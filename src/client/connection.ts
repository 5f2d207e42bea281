/**
 * One Kubernetes-style API as the commands reach it: our daemon over its unix socket, or any server a kubeconfig names. Requests go out
 * and answers come back; what they mean is the caller's business.
 */
export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With the query, encoded: `/apis/agentiso.dev/v1alpha1/namespaces/default/teams?limit=500`. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

export interface ApiResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The whole body. */
  text(): Promise<string>;
  /** What the body says, where that is known without reading it. Others have it as well: it is frozen. */
  readonly object?: object;
  /** The body line by line as it arrives: a watch. Ends when the server ends it or the signal aborts. */
  lines(): AsyncIterable<string>;
  /** The body in the pieces in which it arrives, none of which cuts a character: a log. */
  chunks(): AsyncIterable<string>;
}

/** Where the server is, for what is more than a request and its answer. */
export interface Endpoint {
  readonly socketPath?: string;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly tls?: TlsOptions;
  /** What to say when nobody answers. */
  readonly whenUnavailable?: (cause: NodeJS.ErrnoException) => string;
}

export interface TlsOptions {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly servername?: string;
  readonly isUnverified?: boolean;
}

export interface Connection {
  /** For messages: the socket's path or the server's address. */
  readonly name: string;
  readonly endpoint?: Endpoint;
  /** Rejects with UnavailableError naming the server when nobody answers there. An HTTP error status is an answer like any other. */
  request(request: ApiRequest): Promise<ApiResponse>;
  close(): void;
}
