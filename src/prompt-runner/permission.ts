/** Whether a tool call that an agent asks about may happen, by the rules of its role, and which of the agent's options says so. Pure. */
import type { PermissionRule } from '#protocol/prompt.ts';
import { dangerOf } from './dangerous.ts';

/** What is known of the call; agents leave out what they like. */
export interface AskedCall {
  readonly title: string;
  readonly kind: string;
  /** Command lines in it. */
  readonly commands: readonly string[];
  /** Files it names that are outside of the workspace, as they really lie. */
  readonly outside: readonly string[];
}

export interface Verdict {
  readonly action: PermissionRule['action'];
  readonly why: string;
}

/** Kinds that change what they name. */
const CHANGING = ['edit', 'delete', 'move'];

/** The first rule that fits, and no where none does. */
export function judge(call: AskedCall, rules: readonly PermissionRule[]): Verdict {
  for (const text of [...call.commands, call.title]) {
    const danger = dangerOf(text);
    if (danger !== undefined) return { action: 'deny', why: `${danger} is never allowed` };
  }
  const [outside] = call.outside;
  if (outside !== undefined && CHANGING.includes(call.kind)) return { action: 'deny', why: `${outside} is outside of the workspace` };
  const index = rules.findIndex((rule) => fits(rule, call));
  const rule = rules[index];
  return rule ? { action: rule.action, why: `rule ${index + 1}` } : { action: 'deny', why: 'no rule allows it' };
}

/** What allows must fit all of it; what holds back, any of it, and also what would run nobody knows what. */
function fits({ action, kind, tool, command }: PermissionRule, call: AskedCall): boolean {
  if (kind !== undefined && kind !== call.kind) return false;
  if (tool !== undefined && !like(tool, call.title)) return false;
  if (command === undefined) return true;
  if (call.commands.length === 0) return action !== 'allow' && call.kind === 'execute';
  const fitting = call.commands.filter((line) => like(command, line));
  return action === 'allow' ? fitting.length === call.commands.length : fitting.length > 0;
}

/** `*` stands for anything, also for nothing. */
function like(pattern: string, text: string): boolean {
  const escaped = pattern.split('*').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${escaped.join('.*')}$`, 's').test(text);
}

export interface Option {
  readonly optionId: string;
  readonly kind: string;
}

/** By kind: what the ids mean is the agent's own affair. Undefined: it offers nothing that says so. */
export function choose(options: readonly Option[], isAllowed: boolean): string | undefined {
  const kinds = isAllowed ? ['allow_once', 'allow_always'] : ['reject_once', 'reject_always'];
  for (const kind of kinds) {
    const found = options.find((option) => option.kind === kind);
    if (found) return found.optionId;
  }
  return undefined;
}
