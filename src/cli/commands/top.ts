/** `agentiso top`: what agents use now. */
import { getJson, listObjects, type ResourceName, resourcePath } from '#client/resource-api.ts';
import { isObject, type JsonObject } from '#lib/json.ts';
import { bytesOf, millicoresOf } from '#lib/quantity.ts';
import { apiCommand, text } from '../api-command.ts';
import { EXIT, type OptionValues } from '../command.ts';
import { alignLines, TABLE_STYLE } from '../print/align.ts';
import { isPodType } from '../streams/pod.ts';
import { UsageError } from '../usage-error.ts';

const POD_METRICS: ResourceName = { group: 'metrics.k8s.io', version: 'v1beta1', plural: 'pods', isNamespaced: true };

interface Row {
  readonly namespace: string;
  readonly name: string;
  readonly millicores: number;
  readonly bytes: number;
}

export const topCommand = apiCommand({
  name: 'top',
  args: '<type> [name]',
  summary: 'show what agents use: processor and memory',
  description: 'Shows the processor time and memory that agents use now: agentiso top agents, agentiso top agent NAME.',
  options: [
    { flags: '-l, --selector <labels>', description: 'only of agents with these labels' },
    { flags: '-A, --all-namespaces', description: 'of all namespaces' },
    { flags: '--sort-by <what>', description: 'the largest first', choices: ['cpu', 'memory'] },
    { flags: '--no-headers', description: 'without the line of headers' },
  ],
  async run([type = '', name], options, { connection, namespace, signal, out, err }) {
    if (!isPodType(type)) throw new UsageError(`${JSON.stringify(type)} is nothing that top knows; agents and pods are`);
    const isEverywhere = options['allNamespaces'] === true;
    if (name !== undefined && isEverywhere) throw new UsageError('a resource cannot be retrieved by name across all namespaces');
    const place = isEverywhere ? {} : { namespace };
    const location = { ...place, query: { labelSelector: text(options['selector']) } };
    const items =
      name === undefined
        ? (await listObjects(connection, { resource: POD_METRICS, location, signal })).items
        : [await getJson(connection, resourcePath(POD_METRICS, { namespace, name }), { signal })];
    if (items.length === 0) err(isEverywhere ? 'No resources found\n' : `No resources found in ${namespace} namespace.\n`);
    else out(tableOf(sorted(items.map(rowOf), options), { isEverywhere, hasHeaders: options['headers'] !== false }));
    return EXIT.ok;
  },
});

function rowOf(metrics: JsonObject): Row {
  const { name = '', namespace = '' } = metrics['metadata'] as { name?: string; namespace?: string };
  const containers = Array.isArray(metrics['containers']) ? metrics['containers'] : [];
  const usages = containers.flatMap((each) => (isObject(each) && isObject(each['usage']) ? [each['usage']] : []));
  const sum = (of: (usage: JsonObject) => number) => usages.reduce((total, usage) => total + of(usage), 0);
  return {
    name,
    namespace,
    millicores: sum(({ cpu }) => millicoresOf(String(cpu))),
    bytes: sum(({ memory }) => bytesOf(String(memory))),
  };
}

function sorted(rows: readonly Row[], options: OptionValues): readonly Row[] {
  const by = options['sortBy'];
  if (by === undefined) return rows;
  return [...rows].sort((a, b) => (by === 'cpu' ? b.millicores - a.millicores : b.bytes - a.bytes));
}

function tableOf(rows: readonly Row[], { isEverywhere, hasHeaders }: { isEverywhere: boolean; hasHeaders: boolean }): string {
  const withPlace = (namespace: string, cells: readonly string[]) => (isEverywhere ? [namespace, ...cells] : cells);
  const lines = rows.map(({ namespace, name, millicores, bytes }) =>
    withPlace(namespace, [name, `${Math.ceil(millicores)}m`, `${Math.floor(bytes / 1_048_576)}Mi`]),
  );
  return alignLines(hasHeaders ? [withPlace('NAMESPACE', ['NAME', 'CPU(cores)', 'MEMORY(bytes)']), ...lines] : lines, TABLE_STYLE);
}
