import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { context, metrics, trace } from '@opentelemetry/api';
import { startTelemetry } from '../../sample/src/observability/telemetry.js';
import { sale } from '../rigs/sale.js';
import { listen, type Listener } from '../rigs/sockets.js';
import { useBuyer } from './buyer.js';
import { CHECKOUT, useShop } from './shop.js';

/** What programs ask the sample shop for, or get from it. */
describe('the sample shop', () => {
  const collector = createServer((_request, response) => void response.end('{}'));
  let listener: Listener;

  // Telemetry has to be there before the shop.
  beforeAll(async () => {
    listener = await listen(collector);
    process.env.OTEL_EXPORTER_OTLP_ENDPOINT = `http://127.0.0.1:${listener.port}`;
    startTelemetry();
  });
  const shop = useShop();
  const buyer = useBuyer(shop);
  afterAll(async () => {
    metrics.disable();
    trace.disable();
    context.disable();
    delete process.env.OTEL_EXPORTER_OTLP_ENDPOINT;
    await listener.close();
  });

  it('serves its health and its metrics', async () => {
    await shop.payments.doPayment(sale());
    const health = await shop.get('/health');
    expect([health.status, await health.json()]).toEqual([200, { status: 'ok' }]);
    expect(await (await shop.get('/admin/health')).json()).toMatchObject({
      details: { payments: { status: 'up', counts: { states: { unknown: { count: 0 } } } } },
    });
    const page = await shop.get('/metrics');
    expect(page.headers.get('content-type')).toMatch(/^text\/plain/);
    expect(await page.text()).toMatch(/^card_payment_outcomes_total\{.*card_payment_state="succeeded".*\} 1$/m);
  });

  it('sends its traces to the configured address', async () => {
    const asked = once(collector, 'request');
    await shop.payments.doPayment(sale());
    const [request] = (await asked) as [IncomingMessage];
    expect([request.method, request.url]).toEqual(['POST', '/v1/traces']);
  }, 30_000);

  it('has a page about its API, which shows its routes and the fields of a card', async () => {
    await buyer.page.goto(`${shop.url}/docs`);
    await buyer.page.getByText('Starts a 3D Secure payment of an order.').waitFor();
    expect(await buyer.page.getByText('CardDetailsDto').count()).toBeGreaterThan(0);
    const document = (await (await shop.get('/docs-json')).json()) as { paths: object };
    expect(Object.keys(document.paths)).toEqual(['/api/orders/{id}/pay', '/api/orders/{id}/payment-page']);
  });

  it('starts a payment with the order’s amount, and refuses with JSON', async () => {
    const orderId = await shop.order();
    const pay = (body: object, id = orderId): Promise<Response> =>
      shop.postJson(`/api/orders/${id}/pay`, body, { 'accept-language': 'en' });
    const refused = await pay({ ...CHECKOUT, cardDetails: { ...CHECKOUT.cardDetails, cvv: '1' } });
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({
      code: 'PAYMENT_VALIDATION',
      tellBuyer: 'Please check what you entered. Nothing was charged.',
      issues: [{ path: 'cardDetails.cvv', field: 'Security code', rule: 'securityCode' }],
    });
    expect((await pay({ ...CHECKOUT, amount: '0.01' })).status).toBe(400);
    expect((await pay(CHECKOUT, 'none')).status).toBe(404);
    const started = await pay({ ...CHECKOUT, installmentCount: 3 });
    expect(started.status).toBe(200);
    const { conversationId, html } = (await started.json()) as { conversationId: string; html: string };
    expect(html).toContain('<html');
    expect(await shop.payments.find(conversationId)).toMatchObject({
      state: 'awaiting',
      amount: '420.00',
      installmentCount: 3,
    });
  });

  it('opens the payment page of an order with the order’s amount, once, and refuses a card meanwhile', async () => {
    const orderId = await shop.order();
    const openPage = (id = orderId): Promise<Response> => shop.post(`/api/orders/${id}/payment-page`);
    const opened = (await (await openPage()).json()) as { conversationId: string; redirectUrl: string };
    expect(opened.redirectUrl).toMatch(new RegExp(`^${shop.simulator.publicUrl}/hosted/`));
    expect(await (await openPage()).json()).toEqual(opened);
    expect(await shop.payments.find(opened.conversationId)).toMatchObject({ state: 'pending', amount: '420.00' });
    expect((await shop.postJson(`/api/orders/${orderId}/pay`, CHECKOUT)).status).toBe(409);

    shop.simulator.payAtPage(opened.conversationId, { callback: 'none' });
    expect(await shop.payments.inquire(opened.conversationId)).toMatchObject({ state: 'succeeded' });
    expect((await openPage()).status).toBe(409);
    expect((await openPage('none')).status).toBe(404);
  });
});
