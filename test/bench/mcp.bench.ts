/** `npm run bench -- mcp`: tools of the daemon against an echo server made with the SDK of MCP. */
import type { Bench } from './harness/operation.ts';
import { call } from './mcp/call.ts';
import { connect } from './mcp/connect.ts';
import { many } from './mcp/many.ts';

export const mcpBench: Bench = { name: 'mcp', operations: [call, connect, many] };
