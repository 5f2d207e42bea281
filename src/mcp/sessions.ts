/** Sessions of all transports: each has its own server and its own connection to the API, and all of it ends together. */
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { Connection } from '#client/connection.ts';
import type { Logger } from '#lib/log.ts';
import { agentMethods } from './agent-methods.ts';
import type { AgentCaller, AgentMode } from './agent-mode.ts';
import { AGENT_INSTRUCTIONS, INSTRUCTIONS } from './instructions.ts';
import { type Offer, OPERATOR_CAPABILITIES, operatorMethods } from './operator-methods.ts';
import { openSession, type Session } from './server.ts';
import type { Caller } from './tool.ts';

export interface SessionsOptions extends Offer {
  readonly version: string;
  readonly log: Logger;
  readonly agentMode?: AgentMode;
}

export interface Sessions {
  openOperator(transport: Transport, caller: Caller, connection: Connection, onClose?: () => void): Promise<Session>;
  openAgent(transport: Transport, agent: AgentCaller, onClose?: () => void): Promise<Session>;
  readonly hasAgentMode: boolean;
  closeAll(): Promise<void>;
}

export function createSessions(options: SessionsOptions): Sessions {
  const { version, log, homes, agentMode } = options;
  const running = new Set<Session>();
  const methodsFor = operatorMethods(options);
  const operatorTools = new Set(options.tools.map(({ name }) => name));
  const open = async (transport: Transport, session: Omit<Parameters<typeof openSession>[1], 'version' | 'log' | 'homes'>) => {
    // Whoever hung up while all was being loaded is gone before the session is there.
    let isOver = false;
    let opened: Session | undefined;
    const made = await openSession(transport, {
      ...session,
      version,
      log,
      homes,
      onClose() {
        isOver = true;
        if (opened) running.delete(opened);
        session.onClose();
      },
    });
    opened = made;
    if (!isOver) running.add(made);
    return made;
  };
  return {
    hasAgentMode: agentMode !== undefined,
    openOperator(transport, caller, connection, onClose = () => {}) {
      const ending = new AbortController();
      return open(transport, {
        instructions: INSTRUCTIONS,
        capabilities: OPERATOR_CAPABILITIES,
        methods: methodsFor({ caller, connection, signal: ending.signal }),
        onClose() {
          ending.abort();
          connection.close();
          onClose();
        },
      });
    },
    openAgent(transport, agent, onClose = () => {}) {
      if (!agentMode) throw new Error('there is no agent mode here');
      return open(transport, {
        instructions: AGENT_INSTRUCTIONS,
        capabilities: { tools: {} },
        methods: () => agentMethods(agentMode, agent, { ...options, operatorTools }),
        onClose,
      });
    },
    async closeAll() {
      await Promise.all([...running].map((session) => session.close()));
    },
  };
}
