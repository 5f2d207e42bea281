/** Reads label selectors, `a=b,c!=d,e in (f,g),!h,i,j>3`, and says what is wrong with them in Kubernetes' words. */
import { labelValueProblems, qualifiedNameProblems } from './label-syntax.ts';
import { invalidSelector, type Requirement, type Selector } from './selector.ts';

/** Operators, and words up to the next operator or space. */
const TOKEN = /==|!=|[=!(),<>]|[^\s=!(),<>]+/g;
const SYMBOL = /^[=!(),<>]/;
const OPERATORS: Readonly<Record<string, Requirement['operator']>> = {
  '=': 'in',
  '==': 'in',
  in: 'in',
  '!=': 'notin',
  notin: 'notin',
  '>': 'gt',
  '<': 'lt',
};

export function parseLabelSelector(text: string): Selector {
  const tokens = new Tokens(text.match(TOKEN) ?? []);
  const requirements: Requirement[] = [];
  if (tokens.peek() === '') return requirements;
  if (tokens.peek() !== '!' && !tokens.isWord()) throw expected(tokens, "!, identifier, or 'end of string'");
  for (;;) {
    requirements.push(requirement(tokens));
    if (tokens.peek() === '') return requirements;
    if (tokens.peek() !== ',') throw expected(tokens, "',' or 'end of string'");
    tokens.take();
    if (tokens.peek() !== '!' && !tokens.isWord()) throw expected(tokens, "identifier after ','");
  }
}

class Tokens {
  readonly #tokens: readonly string[];
  #at = 0;

  constructor(tokens: readonly string[]) {
    this.#tokens = tokens;
  }

  /** Empty at the end. */
  peek(): string {
    return this.#tokens[this.#at] ?? '';
  }

  isWord(): boolean {
    return this.peek() !== '' && !SYMBOL.test(this.peek());
  }

  take(): string {
    const token = this.peek();
    this.#at++;
    return token;
  }
}

function requirement(tokens: Tokens): Requirement {
  const isNot = tokens.peek() === '!';
  if (isNot) tokens.take();
  if (!tokens.isWord()) throw inRequirement(tokens, ', expected: identifier');
  const key = tokens.take();
  const problems = qualifiedNameProblems(key, 'a qualified name');
  if (problems.length > 0) throw badPart('<nil>', key, problems.join('; '));
  if (isNot) return { key, operator: 'absent', values: [] };
  if (tokens.peek() === '' || tokens.peek() === ',') return { key, operator: 'exists', values: [] };
  return compared(key, tokens);
}

function compared(key: string, tokens: Tokens): Requirement {
  const operator = Object.hasOwn(OPERATORS, tokens.peek()) ? OPERATORS[tokens.peek()] : undefined;
  if (!operator) throw inRequirement(tokens, ', expected: in, notin, =, ==, !=, gt, lt');
  const values = tokens.take().endsWith('in') ? valueSet(tokens) : [exactValue(tokens)];
  if (operator === 'gt' || operator === 'lt') checkInteger(values[0] as string);
  for (const [index, value] of values.entries()) {
    const problems = labelValueProblems(value);
    if (problems.length > 0) throw badPart(`values[${index}][${key}]`, value, problems.join('; '));
  }
  return { key, operator, values };
}

/** Nothing at all is the empty value. */
function exactValue(tokens: Tokens): string {
  if (tokens.peek() === '' || tokens.peek() === ',') return '';
  if (!tokens.isWord()) throw inRequirement(tokens, ', expected: identifier');
  return tokens.take();
}

/** `(a,b)`: each value once; where one is missing it is the empty one. */
function valueSet(tokens: Tokens): string[] {
  if (tokens.peek() !== '(') throw inRequirement(tokens, " expected: '('");
  const values = new Set<string>();
  do {
    tokens.take();
    values.add(tokens.isWord() ? tokens.take() : '');
  } while (tokens.peek() === ',');
  if (tokens.peek() !== ')') throw inRequirement(tokens, ", expected: ',' or ')'");
  tokens.take();
  return [...values].sort();
}

function checkInteger(value: string): void {
  if (!/^[+-]?\d+$/.test(value)) throw badPart('values[0]', value, "for 'Gt', 'Lt' operators, the value must be an integer");
}

function expected(tokens: Tokens, what: string) {
  return invalidSelector(`found '${tokens.peek()}', expected: ${what}`);
}

function inRequirement(tokens: Tokens, expectation: string) {
  return invalidSelector(`unable to parse requirement: found '${tokens.peek()}'${expectation}`);
}

function badPart(where: string, value: string, problem: string) {
  return invalidSelector(`unable to parse requirement: ${where}: Invalid value: ${JSON.stringify(value)}: ${problem}`);
}
