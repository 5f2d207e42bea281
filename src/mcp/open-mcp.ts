/** All that MCP needs, in one piece that is loaded when the first client comes: the SDK, the tools, the transports. */
import type { Duplex } from 'node:stream';
import type { Connection } from '#client/connection.ts';
import { allPrompts } from './all-prompts.ts';
import { allResources, resourceListChanges } from './all-resources.ts';
import { allTools } from './all-tools.ts';
import { createMcpHttp, type McpHttp } from './http.ts';
import { LineTransport } from './line-transport.ts';
import { createSessions, type SessionsOptions } from './sessions.ts';
import type { Caller } from './tool.ts';

export interface OpenMcpOptions extends Omit<SessionsOptions, 'tools' | 'resources' | 'prompts' | 'resourceListChanges'> {
  /** The API, asked with this header, or as whoever opens the private socket. */
  readonly connect: (authorization?: string) => Connection;
}

export interface Mcp {
  readonly http: McpHttp;
  /** A session over a stream of lines. */
  openLines(stream: Duplex, caller: Caller): Promise<void>;
  close(): Promise<void>;
}

export function openMcp({ connect, ...options }: OpenMcpOptions): Mcp {
  const sessions = createSessions({
    ...options,
    tools: allTools,
    resources: allResources,
    prompts: allPrompts,
    resourceListChanges,
  });
  return {
    http: createMcpHttp({ sessions, connect }),
    async openLines(stream, caller) {
      await sessions.openOperator(new LineTransport(stream), caller, connect());
    },
    close: () => sessions.closeAll(),
  };
}
