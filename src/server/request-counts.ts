/** How many requests were answered how: counted on every request, so with nothing but a map. */
import { Metrics } from '#lib/metrics.ts';
import type { Route } from './route.ts';

export class RequestCounts {
  readonly #counts = new Map<string, number>();
  readonly #errors = new Map<string, number>();

  count(route: Route | undefined, code: number): void {
    const id = route ? `${route.verb} ${route.resource.plural} ${code}` : `get none ${code}`;
    this.#counts.set(id, (this.#counts.get(id) ?? 0) + 1);
  }

  /** By the word that says what went wrong. */
  countError(reason: string): void {
    this.#errors.set(reason, (this.#errors.get(reason) ?? 0) + 1);
  }

  render(watches: number): string {
    const metrics = new Metrics();
    const requests = metrics.counter('agentiso_api_requests_total', 'Requests to the API by verb, resource and answer.');
    for (const [id, count] of this.#counts) {
      const [verb = '', resource = '', code = ''] = id.split(' ');
      requests.inc({ verb, resource, code }, count);
    }
    const errors = metrics.counter(
      'agentiso_errors_total',
      'Requests that were refused or failed, of people, tools and agents, by the reason given.',
    );
    for (const [code, count] of this.#errors) errors.inc({ code }, count);
    metrics.gauge('agentiso_api_watches', 'Watches that are open now.').set(watches);
    return metrics.render();
  }
}
