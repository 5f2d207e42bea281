/** How many requests were answered how: counted on every request, so with nothing but a map. */
import { Metrics } from '#lib/metrics.ts';
import type { Route } from './route.ts';

export class RequestCounts {
  /** By resource, verb and code, because to put them together as a text takes longer than to find them apart. */
  readonly #counts = new Map<Route['resource'] | undefined, Map<string, Map<number, number>>>();
  readonly #errors = new Map<string, number>();

  count(route: Route | undefined, code: number): void {
    const codes = made(made(this.#counts, route?.resource), route?.verb ?? 'get');
    codes.set(code, (codes.get(code) ?? 0) + 1);
  }

  /** By the word that says what went wrong. */
  countError(reason: string): void {
    this.#errors.set(reason, (this.#errors.get(reason) ?? 0) + 1);
  }

  render(watches: number): string {
    const metrics = new Metrics();
    const requests = metrics.counter('agentiso_api_requests_total', 'Requests to the API by verb, resource and answer.');
    for (const [resource, verbs] of this.#counts)
      for (const [verb, codes] of verbs)
        for (const [code, count] of codes) requests.inc({ verb, resource: resource?.plural ?? 'none', code: String(code) }, count);
    const errors = metrics.counter(
      'agentiso_errors_total',
      'Requests that were refused or failed, of people, tools and agents, by the reason given.',
    );
    for (const [code, count] of this.#errors) errors.inc({ code }, count);
    metrics.gauge('agentiso_api_watches', 'Watches that are open now.').set(watches);
    return metrics.render();
  }
}

function made<K, V, W>(maps: Map<K, Map<V, W>>, key: K): Map<V, W> {
  let map = maps.get(key);
  if (!map) {
    map = new Map();
    maps.set(key, map);
  }
  return map;
}
