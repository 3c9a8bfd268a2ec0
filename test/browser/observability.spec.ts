import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { context, metrics, trace } from '@opentelemetry/api';
import { startTelemetry } from '../../sample/src/observability/telemetry.js';
import { sale } from '../e2e/merchant.js';
import { openShop, type Shop } from './shop.js';

/** Health, metrics and traces of the sample shop. */
describe('the sample shop', () => {
  let collector: Server;
  let shop: Shop;

  beforeAll(async () => {
    collector = createServer((_request, response) => void response.end('{}')).listen(0, '127.0.0.1');
    await once(collector, 'listening');
    process.env.OTEL_EXPORTER_OTLP_ENDPOINT = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
    startTelemetry();
    shop = await openShop();
  });
  afterAll(async () => {
    await shop.close();
    metrics.disable();
    trace.disable();
    context.disable();
    delete process.env.OTEL_EXPORTER_OTLP_ENDPOINT;
    collector.closeAllConnections();
    collector.close();
  });

  it('serves its health and its metrics', async () => {
    await shop.payments.doPayment(sale());
    const health = await fetch(`${shop.url}/health`);
    expect([health.status, await health.json()]).toEqual([200, { status: 'ok' }]);
    const figures = await (await fetch(`${shop.url}/admin/health`)).json();
    expect(figures).toMatchObject({
      details: { payments: { status: 'up', counts: { states: { unknown: { count: 0 } } } } },
    });
    const page = await fetch(`${shop.url}/metrics`);
    expect(page.headers.get('content-type')).toMatch(/^text\/plain/);
    expect(await page.text()).toMatch(/^card_payment_outcomes_total\{.*card_payment_state="succeeded".*\} 1$/m);
  });

  it('sends its traces to the configured address', async () => {
    const asked = once(collector, 'request');
    await shop.payments.doPayment(sale());
    const [request] = (await asked) as [IncomingMessage];
    expect([request.method, request.url]).toEqual(['POST', '/v1/traces']);
  }, 30_000);
});
