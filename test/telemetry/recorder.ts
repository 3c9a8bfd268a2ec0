import { context, metrics, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { type DataPoint, MeterProvider } from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';

/** One point of one metric. */
export interface Point {
  readonly name: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** A number, or the value of a histogram. */
  readonly value: unknown;
}

/** The OpenTelemetry SDK with exporters that keep everything in memory. */
export class TelemetryRecorder {
  private readonly exporter = new InMemorySpanExporter();
  private readonly reader = new PrometheusExporter({ preventServerStart: true });

  /** Registers the SDK, as a host does before its application starts. */
  start(): this {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    trace.setGlobalTracerProvider(
      new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(this.exporter)] }),
    );
    metrics.setGlobalMeterProvider(new MeterProvider({ readers: [this.reader] }));
    return this;
  }

  stop(): void {
    context.disable();
    trace.disable();
    metrics.disable();
  }

  get spans(): ReadableSpan[] {
    return this.exporter.getFinishedSpans();
  }

  /** The only span with this name. */
  span(name: string): ReadableSpan {
    const found = this.spans.filter((span) => span.name === name);
    if (found.length !== 1) throw new Error(`${found.length} spans are called ${name}`);
    return found[0]!;
  }

  async points(): Promise<Point[]> {
    const { resourceMetrics, errors } = await this.reader.collect();
    if (errors.length > 0) throw new Error(`Collecting failed: ${errors.map(String).join()}`);
    return resourceMetrics.scopeMetrics.flatMap(({ metrics: collected }) =>
      collected.flatMap(({ descriptor, dataPoints }) =>
        (dataPoints as DataPoint<unknown>[]).map(({ attributes, value }) => ({
          name: descriptor.name,
          attributes,
          value,
        })),
      ),
    );
  }

  /** The values of a metric, by the attributes of their points without the account. */
  async values(name: string): Promise<Record<string, unknown>> {
    const points = (await this.points()).filter((point) => point.name === name);
    return Object.fromEntries(
      points.map(({ attributes, value }) => {
        const { 'card_payment.account': _account, ...others } = attributes;
        return [Object.values(others).join(' '), value];
      }),
    );
  }

  /** Every recorded name and text, without numbers and times. */
  async texts(): Promise<string[]> {
    const spans = this.spans.map(({ name, attributes, events, links, status }) =>
      JSON.stringify({ name, attributes, events, links: links.map((link) => link.attributes), status }),
    );
    return [...spans, ...(await this.points()).map(({ name, attributes }) => JSON.stringify({ name, attributes }))];
  }
}
