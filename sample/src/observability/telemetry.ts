import { context, metrics, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';

/** What Prometheus scrapes, at `/metrics`. */
export const prometheus = new PrometheusExporter({ preventServerStart: true });

/** Must run before the application starts, because the payment module uses the providers that it finds then. */
export function startTelemetry(): void {
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [prometheus] }));
  if (!process.env.OTEL_EXPORTER_OTLP_ENDPOINT) return;
  const spanProcessors = [new BatchSpanProcessor(new OTLPTraceExporter())];
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors }));
}
