/** A parsed JSONPath template: what the parser makes and the evaluation walks. */
import { AgentisoError } from '../errors.ts';

export type Operator = '==' | '!=' | '<' | '<=' | '>' | '>=';

export type Step =
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'wildcard' }
  | { readonly kind: 'descend' }
  | { readonly kind: 'index'; readonly index: number }
  | { readonly kind: 'slice'; readonly start: number | undefined; readonly end: number | undefined; readonly step: number }
  | { readonly kind: 'union'; readonly branches: readonly Steps[] }
  | { readonly kind: 'exists'; readonly left: Steps }
  | { readonly kind: 'filter'; readonly left: Steps; readonly operator: Operator; readonly right: Steps }
  | { readonly kind: 'literal'; readonly value: string | number | boolean };

export type Steps = readonly Step[];

export type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'path'; readonly steps: Steps }
  | { readonly kind: 'range'; readonly steps: Steps; readonly body: readonly Part[] };

export interface JsonPathTemplate {
  readonly source: string;
  readonly parts: readonly Part[];
  /** Set when the whole is one path of plain field names, which is most printer columns: those need no walk. */
  readonly fields: readonly string[] | undefined;
}

/** The template is wrong, or does not fit the value. `position` counts characters of the template from 1. */
export class JsonPathError extends AgentisoError {
  readonly position: number | undefined;

  constructor(message: string, position?: number) {
    super('Invalid', message, { reason: 'InvalidJsonPath' });
    this.position = position;
  }
}
