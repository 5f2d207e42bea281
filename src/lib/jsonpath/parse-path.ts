/** One path: `.a.b`, `['x']`, `[0]`, `[1:3]`, `[*]`, `..name`, `[?(@.type=="Ready")]`. */
import type { Scanner } from './scanner.ts';
import type { Operator, Step, Steps } from './template.ts';

const OPERATORS: readonly Operator[] = ['==', '!=', '<=', '>=', '<', '>'];
const NAME_ENDS = ' \t\r\n.,[]$@{}';
/** In a filter a name also ends where the comparison goes on. */
const FILTER_NAME_ENDS = `${NAME_ENDS})=!<>`;
/** Filters within filters; more than anybody writes by hand. */
const MAX_FILTER_DEPTH = 10;

export interface PathContext {
  /** 0 outside of filters. */
  readonly filterDepth: number;
  /** A path may begin with a bare name, as in `metadata.name`. */
  readonly mayBeginBare: boolean;
}

export function parsePath(scanner: Scanner, context: PathContext): Step[] {
  const steps: Step[] = [];
  for (;;) {
    scanner.skipBlanks();
    const step = parseStep(scanner, context, steps.length === 0);
    if (step === undefined) return steps;
    if (step === 'nothing') continue;
    steps.push(step);
    if (step.kind === 'descend') steps.push(...afterDescent(scanner, context));
  }
}

function afterDescent(scanner: Scanner, context: PathContext): Step[] {
  if (scanner.peek() === '.') throw scanner.error('expected a name after ..');
  return /[\p{L}\p{N}_*]/u.test(scanner.peek()) ? [fieldNamed(name(scanner, context))] : [];
}

/** `nothing` for what stands for the value itself, undefined where the path ends. */
function parseStep(scanner: Scanner, context: PathContext, isFirst: boolean): Step | 'nothing' | undefined {
  if (scanner.accept('..')) return { kind: 'descend' };
  if (scanner.accept('.')) return fieldAfterDot(scanner, context);
  const next = scanner.peek();
  if (next === '[') return bracket(scanner, context);
  if (isFirst && (next === '@' || next === '$')) {
    scanner.next();
    return 'nothing';
  }
  return isFirst ? literalOrName(scanner, context) : undefined;
}

function fieldAfterDot(scanner: Scanner, context: PathContext): Step | 'nothing' {
  const found = name(scanner, context);
  return found === '' ? 'nothing' : fieldNamed(found);
}

function fieldNamed(found: string): Step {
  return found === '*' ? { kind: 'wildcard' } : { kind: 'field', name: found };
}

function name(scanner: Scanner, { filterDepth }: PathContext): string {
  return scanner.until(filterDepth > 0 ? FILTER_NAME_ENDS : NAME_ENDS);
}

function literalOrName(scanner: Scanner, context: PathContext): Step | undefined {
  const next = scanner.peek();
  if (next === '"' || next === "'") return { kind: 'literal', value: scanner.quoted() };
  if (/[-+\d]/.test(next)) return { kind: 'literal', value: number(scanner) };
  // Made here, as it takes longer than a command that needs none has to spare.
  if (!/[\p{L}\p{N}_]/u.test(next)) return undefined;
  const complaint = scanner.error('expected a path or a quoted text');
  const word = name(scanner, context);
  if (word === 'true' || word === 'false') return { kind: 'literal', value: word === 'true' };
  if (!context.mayBeginBare) throw complaint;
  return { kind: 'field', name: word };
}

function number(scanner: Scanner): number {
  const complaint = scanner.error('expected a number');
  const sign = scanner.accept('-') ? -1 : 1;
  if (sign === 1) scanner.accept('+');
  const digits = scanner.digits();
  const value = sign * Number(digits);
  if (digits === '' || Number.isNaN(value)) throw complaint;
  return value;
}

function bracket(scanner: Scanner, context: PathContext): Step {
  scanner.expect('[');
  if (scanner.accept('?(')) return filter(scanner, context);
  const elements = [element(scanner)];
  while (scanner.accept(',')) elements.push(element(scanner));
  scanner.expect(']');
  const [only] = elements;
  return elements.length === 1 && only ? only : { kind: 'union', branches: elements.map((step): Steps => [step]) };
}

function element(scanner: Scanner): Step {
  scanner.skipBlanks();
  const next = scanner.peek();
  const step = next === "'" || next === '"' ? { kind: 'field' as const, name: scanner.quotedKey() } : position(scanner);
  scanner.skipBlanks();
  return step;
}

function position(scanner: Scanner): Step {
  if (scanner.accept('*')) return { kind: 'slice', start: undefined, end: undefined, step: 1 };
  const complaint = scanner.error('expected an index, a range such as 0:2, *, or a key in quotes');
  const start = integer(scanner);
  if (!scanner.accept(':')) {
    if (start === undefined) throw complaint;
    return { kind: 'index', index: start };
  }
  const end = integer(scanner);
  const step = scanner.accept(':') ? (integer(scanner) ?? 1) : 1;
  if (step <= 0) throw scanner.error('expected a step above 0');
  return { kind: 'slice', start, end, step };
}

function integer(scanner: Scanner): number | undefined {
  const sign = scanner.accept('-') ? -1 : 1;
  const complaint = scanner.error('expected a whole number');
  const digits = scanner.digits();
  if (digits === '' && sign === 1) return undefined;
  if (!/^\d{1,15}$/.test(digits)) throw complaint;
  return sign * Number(digits);
}

function filter(scanner: Scanner, { filterDepth }: PathContext): Step {
  if (filterDepth >= MAX_FILTER_DEPTH) throw scanner.error(`expected at most ${MAX_FILTER_DEPTH} filters within each other`);
  const context: PathContext = { filterDepth: filterDepth + 1, mayBeginBare: false };
  const left = parsePath(scanner, context);
  if (left.length === 0 && scanner.peek() === ')') throw scanner.error('expected a condition such as @.type=="Ready"');
  const operator = OPERATORS.find((candidate) => scanner.accept(candidate));
  const right = operator ? operand(scanner, context) : [];
  scanner.skipBlanks();
  if (!scanner.accept(')')) throw scanner.error(operator ? 'expected )' : `expected ) or one of ${OPERATORS.join(' ')}`);
  scanner.expect(']');
  return operator ? { kind: 'filter', left, operator, right } : { kind: 'exists', left };
}

function operand(scanner: Scanner, context: PathContext): Steps {
  scanner.skipBlanks();
  const complaint = scanner.error('expected a value to compare with: a quoted text, a number, true, false or a path');
  const isCurrent = scanner.peek() === '@' || scanner.peek() === '$';
  const steps = parsePath(scanner, context);
  if (steps.length === 0 && !isCurrent) throw complaint;
  return steps;
}
