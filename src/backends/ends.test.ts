/** How each agent ends its output; the lines are as the agents have written them, shortened. */
import { describe, expect, it } from 'vitest';
import { backendNamed } from './all-backends.ts';
import type { BackendName, OneShotEnd } from './backend.ts';

interface Sample {
  readonly good: readonly object[];
  /** Two calls of tools, one of them told of twice where the agent does so. */
  readonly calls: readonly object[];
  readonly usage: NonNullable<OneShotEnd['usage']>;
}

const claudeCalls = [
  { type: 'assistant', message: { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'Bash', input: { command: 'true' } }] } },
  { type: 'user', message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: '' }] } },
  {
    type: 'assistant',
    message: {
      content: [
        { type: 'tool_use', id: 'a', name: 'Bash' },
        { type: 'tool_use', id: 'b', name: 'Write' },
      ],
    },
  },
];

const SAMPLES: Readonly<Partial<Record<BackendName, Sample>>> = {
  codex: {
    calls: [
      { type: 'item.started', item: { id: 'item_7', type: 'command_execution', command: 'true', status: 'in_progress' } },
      { type: 'item.completed', item: { id: 'item_7', type: 'command_execution', command: 'true', exit_code: 0, status: 'completed' } },
      { type: 'item.completed', item: { id: 'item_8', type: 'mcp_tool_call', server: 'team', tool: 'send', status: 'completed' } },
    ],
    good: [
      { type: 'thread.started', thread_id: '01' },
      { type: 'turn.started' },
      { type: 'item.completed', item: { id: 'item_5', type: 'reasoning', text: 'Well.' } },
      { type: 'item.completed', item: { id: 'item_0', type: 'error', message: 'Model metadata for `m` not found.' } },
      { type: 'item.completed', item: { id: 'item_1', type: 'agent_message', text: 'I begin.' } },
      { type: 'item.completed', item: { id: 'item_3', type: 'agent_message', text: 'All done.' } },
      { type: 'turn.completed', usage: { input_tokens: 44, cached_input_tokens: 0, output_tokens: 28 } },
    ],
    usage: { inputTokens: 44, outputTokens: 28 },
  },
  'claude-code': {
    calls: claudeCalls,
    good: [
      { type: 'assistant', message: { role: 'assistant', content: [{ type: 'text', text: 'All done.' }] } },
      {
        type: 'result',
        subtype: 'success',
        is_error: false,
        result: 'All done.',
        total_cost_usd: 0.25,
        usage: { input_tokens: 40, cache_creation_input_tokens: 3, cache_read_input_tokens: 1, output_tokens: 28 },
      },
    ],
    usage: { inputTokens: 44, outputTokens: 28, costUsd: 0.25 },
  },
  gemini: {
    calls: [
      { type: 'tool_use', tool_name: 'run_shell_command', tool_id: 'a', parameters: { command: 'true' } },
      { type: 'tool_result', tool_id: 'a', status: 'success' },
      { type: 'tool_use', tool_name: 'write_file', tool_id: 'b', parameters: {} },
    ],
    good: [
      { type: 'init', session_id: 'b3', model: 'm' },
      { type: 'message', role: 'user', content: 'Do it.' },
      { type: 'message', role: 'assistant', content: 'All ', delta: true },
      { type: 'message', role: 'assistant', content: 'done.', delta: true },
      { type: 'result', status: 'success', stats: { total_tokens: 72, input_tokens: 44, output_tokens: 28 } },
    ],
    usage: { inputTokens: 44, outputTokens: 28 },
  },
  qwen: {
    calls: claudeCalls,
    good: [
      { type: 'assistant', message: { role: 'assistant', content: [{ type: 'text', text: 'All done.' }] } },
      { type: 'result', subtype: 'success', is_error: false, result: 'All done.', usage: { input_tokens: 44, output_tokens: 28 } },
    ],
    usage: { inputTokens: 44, outputTokens: 28 },
  },
  opencode: {
    calls: [
      { type: 'tool_use', part: { type: 'tool', tool: 'bash', callID: 'a', state: { status: 'completed' } } },
      { type: 'tool_use', part: { type: 'tool', tool: 'write', callID: 'b', state: { status: 'error' } } },
    ],
    good: [
      { type: 'step_start', part: { type: 'step-start' } },
      { type: 'step_finish', part: { reason: 'tool-calls', tokens: { input: 33, output: 21 }, cost: 0.125 } },
      { type: 'text', part: { type: 'text', text: 'All done.' } },
      { type: 'step_finish', part: { reason: 'stop', tokens: { input: 11, output: 7 }, cost: 0.125 } },
    ],
    usage: { inputTokens: 44, outputTokens: 28, costUsd: 0.25 },
  },
  droid: {
    calls: [
      { type: 'tool_call', id: 'a', toolName: 'Execute', parameters: { command: 'true' } },
      { type: 'tool_result', id: 'a', isError: false, value: '' },
      { type: 'tool_call', id: 'b', toolName: 'Create', parameters: {} },
    ],
    good: [
      { type: 'message', role: 'assistant', text: 'All done.' },
      { type: 'completion', finalText: 'All done.', numTurns: 5, usage: { input_tokens: 44, output_tokens: 28, factory_credits: 0 } },
    ],
    usage: { inputTokens: 44, outputTokens: 28 },
  },
};

const lines = (events: readonly object[]) => events.map((event) => `${JSON.stringify(event)}\n`).join('');
const parse = (name: string, stdout: string) => backendNamed(name as BackendName).oneShot?.parseEnd(stdout);

describe.each(Object.entries(SAMPLES))('%s', (name, { good, calls, usage }) => {
  it('ends with its last words and what it has used', () => {
    expect(parse(name, lines(good))).toEqual({ isError: false, text: 'All done.', toolCalls: 0, usage });
  });

  it('counts the tools that it has called', () => {
    expect(parse(name, lines([...calls, ...good]))?.toolCalls).toBe(2);
  });

  it('takes no notice of lines that are not its own', () => {
    const noisy = `Warning: {no JSON\n{nor this}\n${lines(good).replaceAll('\n', '\nnoise\n')}`;
    expect(parse(name, noisy)).toEqual(parse(name, lines(good)));
  });

  it('has no end when it was cut off before it', () => {
    expect(parse(name, lines(good.slice(0, -1)))).toBeUndefined();
    expect(parse(name, lines(good).slice(0, -20))).toBeUndefined();
    expect(parse(name, '')).toBeUndefined();
  });
});
