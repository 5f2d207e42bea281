/** A small metrics registry: counters, gauges and histograms with labels, and the Prometheus text format. */

export type Labels = Readonly<Record<string, string>>;

export interface Counter {
  inc(labels?: Labels, by?: number): void;
}

export interface Gauge {
  set(value: number, labels?: Labels): void;
}

export interface Histogram {
  observe(value: number, labels?: Labels): void;
}

interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  render(): string[];
}

interface Distribution {
  readonly labels: Labels;
  /** One per bucket, not yet summed up. */
  readonly counts: number[];
  sum: number;
  count: number;
}

/** Seconds, from a pass that only reads memory to one that boots a machine. */
const DURATION_BUCKETS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60];

export class Metrics {
  readonly #families = new Map<string, Family>();

  counter(name: string, help: string): Counter {
    const values = this.#scalar(name, help, 'counter');
    return { inc: (labels = {}, by = 1) => values.set(labels, values.get(labels) + by) };
  }

  gauge(name: string, help: string): Gauge {
    const values = this.#scalar(name, help, 'gauge');
    return { set: (value, labels = {}) => values.set(labels, value) };
  }

  /** A gauge that is read when somebody asks. */
  sampled(name: string, help: string, read: () => Iterable<readonly [Labels, number]>): void {
    const render = () => [...read()].map(([labels, value]) => `${name}${rendered(labels)} ${renderNumber(value)}`);
    this.#register({ name, help, type: 'gauge', render });
  }

  histogram(name: string, help: string, buckets: readonly number[] = DURATION_BUCKETS): Histogram {
    const series = new Map<string, Distribution>();
    this.#register({
      name,
      help,
      type: 'histogram',
      render: () => [...series.values()].flatMap((one) => renderDistribution(name, buckets, one)),
    });
    return {
      observe(value, labels = {}) {
        const id = renderLabels(labels);
        const one = series.get(id) ?? { labels, counts: buckets.map(() => 0), sum: 0, count: 0 };
        series.set(id, one);
        const bucket = buckets.findIndex((limit) => value <= limit);
        if (bucket >= 0) one.counts[bucket] = (one.counts[bucket] ?? 0) + 1;
        one.sum += value;
        one.count += 1;
      },
    };
  }

  /** Prometheus text format 0.0.4. */
  render(): string {
    let text = '';
    for (const { name, help, type, render } of this.#families.values()) {
      text += `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n`;
      for (const line of render()) text += `${line}\n`;
    }
    return text;
  }

  #scalar(name: string, help: string, type: 'counter' | 'gauge') {
    const series = new Map<string, number>();
    this.#register({ name, help, type, render: () => [...series].map(([labels, value]) => `${name}${labels} ${renderNumber(value)}`) });
    return {
      get: (labels: Labels) => series.get(renderLabels(labels)) ?? 0,
      set: (labels: Labels, value: number) => void series.set(renderLabels(labels), value),
    };
  }

  #register(family: Family): void {
    if (this.#families.has(family.name)) throw new Error(`metric ${family.name} is registered twice`);
    this.#families.set(family.name, family);
  }
}

function renderDistribution(name: string, buckets: readonly number[], { labels, counts, sum, count }: Distribution): string[] {
  let below = 0;
  const lines = buckets.map((limit, index) => {
    below += counts[index] ?? 0;
    return `${name}_bucket${renderLabels({ ...labels, le: renderNumber(limit) })} ${below}`;
  });
  lines.push(`${name}_bucket${renderLabels({ ...labels, le: '+Inf' })} ${count}`);
  lines.push(`${name}_sum${renderLabels(labels)} ${renderNumber(sum)}`, `${name}_count${renderLabels(labels)} ${count}`);
  return lines;
}

/** Who counts often hands in the same object. */
const texts = new WeakMap<Labels, string>();

function renderLabels(labels: Labels): string {
  const known = texts.get(labels);
  if (known !== undefined) return known;
  const text = rendered(labels);
  texts.set(labels, text);
  return text;
}

function rendered(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escapeLabel(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

function renderNumber(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  if (value === Number.NEGATIVE_INFINITY) return '-Inf';
  return String(value);
}
