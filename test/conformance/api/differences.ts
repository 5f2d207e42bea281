/** Readable differences between two answers. */
import type { Answer } from './exchange.ts';
import type { Step } from './scenario.ts';

const placeholder = /<(uid|rv|list-rv|continue)-\d+>/g;

/**
 * Which placeholder of one transcript stands for which of the other. One for a whole scenario: a value that is new on both sides
 * makes a pair, and pairs must hold from then on. Plain numbers would shift after every step that differs.
 */
export class Pairs {
  readonly #gotOf = new Map<string, string>();
  readonly #wantOf = new Map<string, string>();

  match(want: string, got: string): boolean {
    const known = this.#gotOf.get(want);
    const back = this.#wantOf.get(got);
    if (known === undefined && back === undefined && kindOf(want) === kindOf(got)) {
      this.#gotOf.set(want, got);
      this.#wantOf.set(got, want);
      return true;
    }
    return known === got && back === want;
  }
}

function kindOf(name: string): string {
  return name.replace(/\d+/, '');
}

/** One line for every place where they differ. */
export function differences(want: Answer | undefined, got: Answer | undefined, { step, pairs }: { step?: Step; pairs: Pairs }): string[] {
  if (want === undefined || got === undefined) {
    return want === got ? [] : [want === undefined ? 'not recorded' : 'not answered'];
  }
  if (want.status !== got.status) {
    return [`answer\n      want ${summary(want)}\n      got  ${summary(got)}`];
  }
  const view = (answer: Answer) => (step?.compare === 'reason' ? withoutWording(answer) : answer);
  const found: string[] = [];
  compare(view(want), view(got), { path: '', found, pairs });
  return found;
}

function summary({ status, body }: Answer): string {
  const isStatus = isContainer(body) && body['kind'] === 'Status';
  return `${status} ${isStatus ? `${String(body['reason'] ?? '')} ${show(body['message'])}` : show(body).slice(0, 200)}`;
}

interface Findings {
  readonly path: string;
  readonly found: string[];
  readonly pairs: Pairs;
}

function compare(want: unknown, got: unknown, { path, found, pairs }: Findings): void {
  if (typeof want === 'string' && typeof got === 'string' && isSameText(want, got, pairs)) {
    return;
  }
  if (typeof want !== 'string' && Object.is(want, got)) {
    return;
  }
  if (isContainer(want) && isContainer(got) && Array.isArray(want) === Array.isArray(got)) {
    const keys = new Set([...Object.keys(want), ...Object.keys(got)]);
    for (const key of keys) {
      compare(want[key], got[key], { path: path === '' ? key : `${path}.${key}`, found, pairs });
    }
    return;
  }
  found.push(`${path}\n      want ${show(want)}\n      got  ${show(got)}`);
}

function isSameText(want: string, got: string, pairs: Pairs): boolean {
  if (want.replace(placeholder, '<$1>') !== got.replace(placeholder, '<$1>')) {
    return false;
  }
  const names = got.match(placeholder) ?? [];
  return (want.match(placeholder) ?? []).every((name, index) => pairs.match(name, names[index] ?? ''));
}

function isContainer(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function show(value: unknown): string {
  return value === undefined ? '(absent)' : JSON.stringify(value);
}

function withoutWording(answer: Answer): Answer {
  return { ...answer, headers: { ...answer.headers, warning: 'not compared' }, body: strip(answer.body) };
}

function strip(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(strip);
  }
  if (!isContainer(value)) {
    return value;
  }
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key !== 'message' && key !== 'causes')
      .map(([key, item]) => [key, strip(item)]),
  );
}
