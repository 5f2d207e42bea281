/** The worked examples of docs/mcp.md: what a client sends, and what it gets among other things. test/e2e/docs-mcp.test.ts sends them. */

export interface ExampleStep {
  readonly says: string;
  readonly method: string;
  readonly params: object;
  /** Of `structuredContent`, or of the result where there is none: what it holds, and surely more. */
  readonly answer: object;
}

const MANIFEST = `apiVersion: agentiso.dev/v1alpha1
kind: Team
metadata:
  name: tour
spec:
  description: Shows how a team is run over MCP.
  roles:
    - name: worker
  budget:
    maxAgents: 1
`;

export const OPERATOR_EXAMPLE: readonly ExampleStep[] = [
  {
    says: 'See first what a manifest would do. `dry_run` writes nothing.',
    method: 'tools/call',
    params: { name: 'apply', arguments: { manifest: MANIFEST, dry_run: true } },
    answer: { objects: [{ kind: 'Team', name: 'tour', action: 'created' }], warnings: [], dry_run: true },
  },
  {
    says: 'Apply it. One mistake in it, and nothing is written.',
    method: 'tools/call',
    params: { name: 'apply', arguments: { manifest: MANIFEST } },
    answer: { objects: [{ kind: 'Team', name: 'tour', action: 'created' }], warnings: [], dry_run: false },
  },
  {
    says: 'Wait until its agent can work. This is one call that ends when it is so; nobody asks again and again.',
    method: 'tools/call',
    params: { name: 'wait_for', arguments: { kind: 'team', name: 'tour', condition: 'Ready', timeout_seconds: 60 } },
    answer: { met: true, timed_out: false },
  },
  {
    says: 'Give it work, and wait for what comes of it.',
    method: 'tools/call',
    params: {
      name: 'assign_task',
      arguments: {
        team: 'tour',
        name: 'greet',
        title: 'Say hello',
        command: 'echo hello > hello.txt && cat hello.txt',
        wait: true,
      },
    },
    answer: { task_id: 'tour-greet', status: 'completed', exit_code: 0, output: 'hello\n', owner: 'tour-worker', attempt: 1 },
  },
  {
    says: 'Look into the workspace.',
    method: 'tools/call',
    params: { name: 'workspace_file_read', arguments: { team: 'tour', agent: 'worker', path: 'hello.txt' } },
    answer: { content: 'hello\n', encoding: 'utf-8' },
  },
  {
    says: 'Read the board. Clients show resources to people and models alike, and can follow them.',
    method: 'resources/read',
    params: { uri: 'agentiso://teams/tour/board' },
    answer: { contents: [{ uri: 'agentiso://teams/tour/board', mimeType: 'text/markdown' }] },
  },
  {
    says: "Write to the agent. What it does with that is the agent's example below.",
    method: 'tools/call',
    params: { name: 'team_message', arguments: { team: 'tour', to: 'worker', content: 'What is wrong with the till?' } },
    answer: { state: 'Accepted' },
  },
  {
    says: 'End the team, and wait until everything that it used is gone. The file that was in no commit is kept: `rescue_list` shows it.',
    method: 'tools/call',
    params: { name: 'team_destroy', arguments: { team: 'tour', wait: true } },
    answer: { team: 'tour', phase: 'Destroyed', kept: [{ agent: 'tour-worker', commits: 0, files: 1 }] },
  },
];

export const AGENT_EXAMPLE: readonly ExampleStep[] = [
  {
    says: 'Who is there?',
    method: 'tools/call',
    params: { name: 'list_agents', arguments: {} },
    answer: { agents: [{ name: 'worker', team: 'tour', role: 'worker' }] },
  },
  {
    says: 'What came in? The next call acknowledges it.',
    method: 'tools/call',
    params: { name: 'check_messages', arguments: {} },
    answer: { messages: [{ from: 'orchestrator', content: 'What is wrong with the till?' }], open_requests: [] },
  },
  {
    says: 'Leave a note that the whole team can read.',
    method: 'tools/call',
    params: { name: 'vault_write', arguments: { path: 'teams/tour/notes/found.md', content: '# Found\n\nThe till rounds down.\n' } },
    answer: { path: 'teams/tour/notes/found.md' },
  },
  {
    says: 'Tell the people who run the team.',
    method: 'tools/call',
    params: { name: 'send_message', arguments: { to: 'orchestrator', content: 'Read teams/tour/notes/found.md, please.' } },
    answer: { state: 'Accepted' },
  },
];

/** A refusal, where no team is. */
export const ERROR_EXAMPLE = {
  request: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'team_status', arguments: { team: 'tuor' } } },
  answer: {
    error: { code: 'NotFound', message: 'teams.agentiso.dev "tuor" not found', retryable: false, hint: 'list teams shows what there is' },
  },
};
