import { describe, expect, it } from 'vitest';
import { asTyped } from './typed-command.ts';

const NAMES = ['get', 'serve', 'port-forward'];
const typed = (text: string) => asTyped(text, 'scripts/agentiso', NAMES);

describe('asTyped', () => {
  it('names the program as it was called, wherever a command of it is meant', () => {
    expect(typed('agentiso get tasks')).toBe('scripts/agentiso get tasks');
    expect(typed('use: agentiso serve\n  or `agentiso port-forward x`')).toBe(
      'use: scripts/agentiso serve\n  or `scripts/agentiso port-forward x`',
    );
  });

  it('leaves everything else as it is', () => {
    for (const text of [
      'agentiso: no daemon',
      'run agentiso where it may',
      'scripts/agentiso get x',
      'my-agentiso get x',
      'agentiso gets',
    ]) {
      expect(typed(text)).toBe(text);
    }
    expect(asTyped('agentiso get tasks', undefined, NAMES)).toBe('agentiso get tasks');
  });
});
