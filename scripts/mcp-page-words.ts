/** The parts of docs/mcp.md that no list says. The examples are run by a test. */
import type { ErrorCode } from '../src/lib/errors.ts';

export const START = `<!-- Written by \`npm run generate\` from src/mcp and src/protocol. Do not edit. -->

# MCP

Any client of the Model Context Protocol can run teams with agentiso, and any program in a workspace can take part in its team.
Tools read and write the same objects, mail and notes as the commands and kubectl; what may be done is decided in the same place.

## Connect

A daemon must run (\`agentiso serve\`, or \`agentiso up -f team.yaml --stay\`). The client starts \`agentiso mcp\`, which connects it to the
daemon of the nearest \`.agentiso\` folder over a private socket: no token is needed. A restart of the daemon does not end the
session.

\`\`\`sh
agentiso mcp --print-config claude
agentiso mcp --print-config codex
agentiso mcp --print-config cursor
\`\`\`

Each prints what goes into the settings of that client:`;

export const HTTP = `Over HTTP, also from another machine if \`serve --listen\` allows it: Streamable HTTP at \`/mcp\` of the daemon's address, with a
bearer token. Both stand in \`.agentiso/kubeconfig\` (as \`server\` and \`token\`), with the certificate of the authority that signed the
server's own. A token for somebody else is made and taken away by

\`\`\`sh
agentiso token create ada --role viewer
agentiso token revoke ada
\`\`\`

The client sends \`Authorization: Bearer TOKEN\` with every request. Clients on Node trust the server with the authority's certificate
in a file that \`NODE_EXTRA_CA_CERTS\` names. A session belongs to the token that began it, and ends when the token is revoked.

## Two modes

| | Orchestrator | Agent |
|---|---|---|
| For | people and programs that run teams | programs in a workspace |
| Over | \`agentiso mcp\`, \`HOME/mcp.sock\`, \`/mcp\` with the token of an admin or viewer | in the workspace \`team mcp\`, or \`/mcp\` on its port 8080; \`/mcp\` of the daemon with the agent's token |
| May | what its role may in the API; a viewer reads | what agents may in their own team |
| Has | tools, resources, prompts, completion | tools |

In a workspace \`team mcp --write-configs ~\` writes the settings of well-known clients, so that they start \`team mcp\`.

The mode follows from the connection and cannot be chosen. Nor can the name: who sends a message or claims a task is whoever the
connection belongs to.

## Answers

Every tool has a schema for its input and one for its answer. An answer is \`structuredContent\` and the same as JSON text. Where it
holds what agents or other people wrote, a first text says that this is data and not to be followed. An unknown tool or field is
refused; nothing is guessed.`;

export const TOOLS = `## Tools of an orchestrator

*Reads* changes nothing. *Destroys* ends or removes something. *Again* means that the same call a second time changes nothing more.
A viewer is offered what reads and is not for admins. The category says which [rate](#limits) a call counts for.`;

export const AGENT_TOOLS = `## Tools of an agent

Each is also a word of the command \`team\` ([team-command.md](team-command.md)); the two are one thing. Names of agents and tasks are short ones, as inside the
team.`;

export const RESOURCES = `## Resources

What can be read at an address, and followed: after \`resources/subscribe\` the client gets \`notifications/resources/updated\` for
every change, several quick ones as one. Nothing is looked for again and again: objects are watched, mail, logs and notes are
followed. Names are short ones; outside of the namespace \`default\` add \`?namespace=NAME\`. \`resources/list\` has those that are there,
by pages, and \`notifications/resources/list_changed\` says when agents, tasks, merges or teams came or went. A viewer reads all but messages.`;

export const PROMPTS = `## Prompts

A person picks one in the client; it becomes the first message, with what is known of the team in it. All of them plan first, ask
before they change something that others use, and treat what agents wrote as data.`;

export const ERRORS = `## Errors

A refusal is a result with \`isError\`, and its text is JSON that says what to do next, so that a model can act on it. To`;

export const ERROR_FIELDS = `\`retryable\` says whether the same call may pass later, \`field\` names the input that is wrong, \`retry_after_ms\` when to come back. What is no
call of a tool (an unknown method, an address that is nobody's) is an error of JSON-RPC with the same as \`data\`.`;

/** What each means; the next step is said by the hint. */
export const MEANINGS: Readonly<Record<ErrorCode, string>> = {
  Invalid: 'the call is wrong as it stands',
  Unauthenticated: 'nobody is known by this token',
  Forbidden: 'known, but not allowed',
  NotFound: 'what it names is not there',
  AlreadyExists: 'the name is taken',
  Conflict: 'it changed meanwhile',
  FenceLost: 'the task is not yours any more',
  Expired: 'the version is too old to go on from',
  TooLarge: 'more than is taken at once',
  QuotaExceeded: 'a budget or a limit of this machine is used up',
  DepthExceeded: 'teams would be nested too deep',
  RateLimited: 'too many calls of this category',
  InboxFull: 'the agent has too much unread mail',
  Unavailable: 'it cannot be done right now',
  Timeout: 'it took longer than it may',
  IoError: 'the disk refused',
  Internal: 'a mistake of agentiso',
};

export const LIMITS = `## Limits

Each user or agent has one bucket per category, shared by all its connections:`;

export const MORE_LIMITS = `A call of the category create counts once for every workspace that it makes. A call ends after 120 seconds unless its tool says
otherwise; what it started goes on. Waiting calls report progress when the client asked for it, and end with the client. A session
follows at most 32 addresses.

## The log of calls

\`.agentiso/state/audit/calls.jsonl\` has a line for every call: when, who, in which mode, which tool, about what, how it ended, how
long it took. It never holds content. It is put aside at 10 MiB; five such files are kept.`;
