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

it('an account whose values cannot be read does not keep the values of other accounts from being exported', async () => {
  const reader = new OnDemandReader();
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
  await connectTelemetry();
  const stops = [
    observe(() => Promise.reject(new Error('password=secret'))),
    observe(() => Promise.resolve([{ name: 'card_payment.writes.owed', value: 7, attributes: {} }])),
  ];
  const { resourceMetrics, errors } = await reader.collect();
  for (const stop of stops) stop();
  metrics.disable();
  const exported = resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics);
  const owed = exported.find(({ descriptor }) => descriptor.name === 'card_payment.writes.owed');
  expect(owed?.dataPoints.map(({ value }) => value)).toEqual([7]);
  expect(errors).toEqual([]);
});
