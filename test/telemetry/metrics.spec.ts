import { metrics } from '@opentelemetry/api';
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import { observe } from '../../lib/telemetry/metrics.js';
import { connectTelemetry } from '../../lib/telemetry/open-telemetry.js';

class OnDemandReader extends MetricReader {
  protected override onForceFlush(): Promise<void> {
    return Promise.resolve();
  }

  protected override onShutdown(): Promise<void> {
    return Promise.resolve();
  }
}

it("an account whose figures cannot be looked up does not keep the others' from being shown", async () => {
  const reader = new OnDemandReader();
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
  await connectTelemetry();
  const ends = [
    observe(() => Promise.reject(new Error('password=secret'))),
    observe(() => Promise.resolve([{ name: 'card_payment.writes.owed', value: 7, attributes: {} }])),
  ];
  const { resourceMetrics, errors } = await reader.collect();
  for (const end of ends) end();
  metrics.disable();
  const shown = resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics);
  const owed = shown.find(({ descriptor }) => descriptor.name === 'card_payment.writes.owed');
  expect(owed?.dataPoints.map(({ value }) => value)).toEqual([7]);
  expect(errors).toEqual([]);
});
