/** How a writing command tells what it did: a line per object as it happens, or with -o the objects themselves. */
import type { ApiResource } from '#client/discovery.ts';
import type { ApiObject } from '#client/resource-api.ts';
import type { DryRun } from '#client/write/requests.ts';
import { text } from '../api-command.ts';
import type { OptionValues } from '../command.ts';
import { objectPrinter, parseOutput } from '../print/output.ts';
import { dryRunSuffix, objectName, qualifiedName } from './outcome.ts';

export interface Result {
  readonly resource: ApiResource;
  readonly name: string;
  /** `configured` and the like. */
  readonly outcome: string;
  readonly object: ApiObject;
}

export interface Results {
  add(result: Result): void;
  /** Prints what could not be printed one by one. */
  finish(): Promise<void>;
}

export interface ResultsOptions {
  readonly out: (text: string) => void;
  readonly options: OptionValues;
  readonly dryRun: DryRun;
}

export function resultsTo({ out, options, dryRun }: ResultsOptions): Results {
  const output = parseOutput(text(options['output']));
  const collected: Result[] = [];
  return {
    add(result) {
      if (output.kind === 'table') out(`${objectName(result.resource, result.name)} ${result.outcome}${dryRunSuffix(dryRun)}\n`);
      else collected.push(result);
    },
    async finish() {
      if (output.kind === 'table' || collected.length === 0) return;
      const names = new Map(collected.map(({ object, resource }) => [object, qualifiedName(resource)]));
      const printer = await objectPrinter(output, {
        withManagedFields: options['showManagedFields'] === true,
        typeName: (object) => names.get(object) ?? object.kind.toLowerCase(),
      });
      out(printer({ objects: collected.map(({ object }) => object), isList: collected.length > 1 }));
    },
  };
}
