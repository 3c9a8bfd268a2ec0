import { readFileSync } from 'node:fs';
import { Injectable } from '@nestjs/common';
import { type ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { trace } from '@opentelemetry/api';
import { MemoryPaymentStore, OnPayment, OnRefund, type PaymentEvent, type PaymentOptions } from 'nestjs-card-payment';
import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { type Merchant, sale, startMerchant } from '../e2e/merchant.js';
import { TelemetryRecorder } from './recorder.js';

@Injectable()
class Orders {
  isFailing = false;
  release: () => void = () => undefined;
  /** The ids of the spans in which the handler ran. */
  readonly spanIds: (string | undefined)[] = [];

  @OnPayment('succeeded', { id: 'mail' })
  async paid(_event: PaymentEvent): Promise<void> {
    this.spanIds.push(trace.getActiveSpan()?.spanContext().spanId);
    if (this.isFailing) throw new Error('card 4508034508034509');
    await Promise.resolve();
  }

  @OnRefund('failed', { id: 'money-back' })
  notRefunded(): void {}
}

describe('OpenTelemetry', () => {
  let recorder: TelemetryRecorder;
  let simulator: Simulator;
  let store: MemoryPaymentStore;
  let merchant: Merchant;

  beforeAll(async () => {
    simulator = await startSimulator({ dialect: 'morpos' });
  });
  afterAll(() => simulator.close());
  beforeEach(async () => {
    recorder = new TelemetryRecorder().start();
    await start();
  });
  afterEach(async () => {
    await merchant.app.close();
    recorder.stop();
  });

  async function start(options: PaymentOptions = {}): Promise<void> {
    store = new MemoryPaymentStore();
    merchant = await startMerchant('express', simulator, {
      options: { store, ...options },
      metadata: { providers: [Orders] },
    });
  }

  async function restart(options: PaymentOptions): Promise<void> {
    await merchant.app.close();
    recorder.reset();
    await start(options);
  }

  const parentOf = ({ parentSpanContext }: ReadableSpan): string | undefined => parentSpanContext?.spanId;

  it('records a direct payment as a span, with its request as a client span below it', async () => {
    const { conversationId } = await merchant.payments.doPayment(sale());
    const operation = recorder.span('card_payment.doPayment');
    expect(operation.attributes).toEqual({
      'card_payment.operation': 'doPayment',
      'card_payment.account': 'default',
      'card_payment.conversation_id': conversationId,
      'card_payment.kind': 'direct',
      'card_payment.state': 'succeeded',
      'card_payment.code': 'B0000',
    });
    const request = recorder.span('POST /v1/Payment/DoPayment');
    expect(parentOf(request)).toBe(operation.spanContext().spanId);
    expect(request.kind).toBe(2);
    expect(request.attributes).toEqual({
      'card_payment.operation': 'doPayment',
      'card_payment.account': 'default',
      'http.request.method': 'POST',
      'http.response.status_code': 200,
      'server.address': '127.0.0.1',
      'server.port': Number(new URL(simulator.url).port),
      'url.full': `${simulator.url}/v1/Payment/DoPayment`,
    });
  });

  it('links the span of a callback to the span that started the payment', async () => {
    const { conversationId } = await merchant.payments.init3d(sale());
    const { request } = simulator.approve(conversationId);
    await fetch(request.url, { ...request, redirect: 'manual' });
    const started = recorder.span('card_payment.init3d').spanContext();
    const completed = recorder.span('card_payment.auth3d');
    expect(completed.attributes).toMatchObject({ 'card_payment.state': 'succeeded', 'card_payment.kind': '3d' });
    expect(completed.links.map(({ context }) => [context.traceId, context.spanId])).toEqual([
      [started.traceId, started.spanId],
    ]);
    expect(completed.spanContext().traceId).not.toBe(started.traceId);
    expect(parentOf(recorder.span('POST /v1/Payment/Auth3d'))).toBe(completed.spanContext().spanId);
  });

  it('records a handler as a span in a new trace, and its failure as an error without the message', async () => {
    const orders = merchant.app.get(Orders);
    await trace.getTracer('shop').startActiveSpan('checkout', async (checkout) => {
      await merchant.payments.doPayment(sale());
      checkout.end();
    });
    const handled = recorder.span('card_payment.handle mail');
    expect(handled.parentSpanContext).toBeUndefined();
    expect(orders.spanIds).toEqual([handled.spanContext().spanId]);
    expect(handled.attributes).toMatchObject({ 'card_payment.event': 'payment.succeeded', 'card_payment.attempts': 1 });

    recorder.reset();
    orders.isFailing = true;
    await merchant.payments.doPayment(sale());
    const failed = recorder.span('card_payment.handle mail');
    expect([failed.status.code, failed.attributes['error.type'], failed.events]).toEqual([2, 'handler_failed', []]);
    expect((await recorder.texts()).join()).not.toContain('4508034508034509');
  });

  it('records errors by their code', async () => {
    const { payments } = merchant;
    await expect(payments.doPayment(sale('0'))).rejects.toThrow();
    const refused = recorder.span('card_payment.doPayment');
    expect([refused.status.code, refused.attributes['error.type']]).toEqual([2, 'PAYMENT_VALIDATION']);
    await restart({ baseUrl: 'http://127.0.0.1:9' });
    await expect(merchant.payments.doPayment(sale())).rejects.toThrow();
    const request = recorder.span('POST /v1/Payment/DoPayment');
    expect([request.status.code, request.attributes['error.type']]).toEqual([2, 'ECONNREFUSED']);
    expect(recorder.span('card_payment.doPayment').attributes).toMatchObject({
      'error.type': 'PAYMENT_NOT_SENT',
      'card_payment.reason': 'not_sent',
    });
  });

  it('counts outcomes by state and reason, once each', async () => {
    const { payments } = merchant;
    await payments.doPayment(sale());
    await payments.doPayment(sale('10.51'));
    const twice = sale('10.51', { conversationId: undefined, idempotencyKey: 'twice' });
    await payments.doPayment(twice);
    await payments.doPayment(twice);
    const { conversationId } = await payments.doPayment(sale('10.96'));
    await payments.inquire(conversationId);
    const { reference } = await payments.doPayment(sale());
    await payments.doPayment(sale('149.90', { reference: reference ?? '' })).catch(() => undefined);
    const outcomes = await recorder.values('card_payment.outcomes');
    expect(outcomes).not.toHaveProperty(['direct failed reference_taken']);
    expect(outcomes).toMatchObject({
      // The inquiry finds that the unknown payment was paid.
      'direct succeeded': 3,
      'direct failed declined': 2,
      'direct unknown indeterminate_code': 1,
    });
  });

  it('counts every payment attempt once, whatever its outcome', async () => {
    const { payments } = merchant;
    await payments.doPayment(sale());
    await payments.doPayment(sale('10.51'));
    const twice = sale('10.51', { conversationId: undefined, idempotencyKey: 'twice' });
    await payments.doPayment(twice);
    await payments.doPayment(twice);
    const { conversationId } = await payments.doPayment(sale('10.96'));
    await payments.inquire(conversationId);
    await payments.init3d(sale());
    await expect(payments.doPayment(sale('0'))).rejects.toThrow();
    expect(await recorder.values('card_payment.payment_attempts')).toEqual({ direct: 4, '3d': 1 });
  });

  it('records refunds and voids as spans with both ids, and counts them by kind under their account', async () => {
    const { payments } = merchant;
    const { conversationId } = await payments.doPayment(sale());
    recorder.reset();
    const { refundId } = await payments.refund({ conversationId, amount: '9.80' });
    const ids = { 'card_payment.conversation_id': conversationId, 'card_payment.refund_id': refundId };
    const what = { 'card_payment.account': 'default', 'card_payment.kind': 'refund', 'card_payment.state': 'failed' };
    expect(recorder.span('card_payment.refund').attributes).toMatchObject({ ...ids, ...what });
    await payments.reconcile();
    expect(recorder.span('card_payment.handle money-back').attributes).toMatchObject(ids);
    await payments.void({ conversationId });
    await expect(payments.refund({ conversationId })).rejects.toThrow();
    expect(recorder.spans.find(({ attributes }) => 'error.type' in attributes)?.attributes).toMatchObject({
      'card_payment.conversation_id': conversationId,
      'error.type': 'PAYMENT_REFUND',
    });
    expect(await recorder.values('card_payment.payment_attempts')).toEqual({ direct: 1, refund: 1, void: 1 });
    expect(await recorder.values('card_payment.outcomes')).toEqual({
      'direct succeeded': 1,
      'refund failed declined': 1,
      'void succeeded': 1,
    });
    const points = await recorder.points();
    expect(points.filter(({ attributes }) => attributes['card_payment.account'] !== 'default')).toEqual([]);
  });

  it('exports the open refunds of the store apart from its payments', async () => {
    const { payments } = merchant;
    const { conversationId } = await payments.doPayment(sale());
    await payments.refund({ conversationId, amount: '9.81' });
    expect(await recorder.values('card_payment.refunds')).toEqual({ refunding: 0, unknown: 1, review: 0 });
    const ages = await recorder.values('card_payment.refunds.oldest_age');
    expect(Object.keys(ages).sort()).toEqual(['refunding', 'review', 'unknown']);
    expect(ages['unknown']).toBeLessThan(60);
    const ofPayments = await recorder.values('card_payment.payments');
    expect(ofPayments).toMatchObject({ unknown: 0 });
    expect(ofPayments).not.toHaveProperty('refunding');
  });

  it('measures operations, requests and handlers in seconds', async () => {
    await merchant.payments.doPayment(sale());
    const points = (await recorder.points()).filter(({ name }) => name.endsWith('.duration'));
    expect(points.map(({ name }) => name).sort()).toEqual([
      'card_payment.gateway.request.duration',
      'card_payment.handler.duration',
      'card_payment.operation.duration',
    ]);
    for (const { value } of points) {
      const { count, sum } = value as { count: number; sum: number };
      expect(count).toBe(1);
      expect(sum).toBeGreaterThan(0);
      expect(sum).toBeLessThan(5);
    }
  });

  it('exports the open payments and deliveries of the store, and the work of this process', async () => {
    const { payments } = merchant;
    await payments.doPayment(sale('10.96'));
    await payments.init3d(sale());
    expect(await recorder.values('card_payment.payments')).toMatchObject({ unknown: 1, awaiting: 1, review: 0 });
    const ages = await recorder.values('card_payment.payments.oldest_age');
    expect(ages['unknown']).toBeGreaterThanOrEqual(0);
    expect(ages['unknown']).toBeLessThan(60);
    expect(await recorder.values('card_payment.deliveries')).toEqual({ open: 0, parked: 0, orphaned: 0 });
    for (const name of ['writes.owed', 'handlers.long_running', 'clock.offset', 'events.waiting']) {
      expect([name, Object.values(await recorder.values(`card_payment.${name}`))]).toEqual([
        name,
        // The event of the unknown payment, for which no handler is announced.
        [name === 'events.waiting' ? 1 : 0],
      ]);
    }
    expect(await recorder.values('card_payment.store.up')).toEqual({ '': 1 });
  });

  it('exports the writes owed to a store that is down, and no value that only the store knows', async () => {
    store.replace = () => Promise.reject(new Error('down'));
    const counts = store.counts.bind(store);
    store.counts = () => Promise.reject(new Error('down'));
    await merchant.payments.doPayment(sale());
    expect(await recorder.values('card_payment.writes.owed')).toEqual({ '': 1 });
    expect(await recorder.values('card_payment.store.up')).toEqual({ '': 0 });
    expect(await recorder.values('card_payment.payments')).toEqual({});
    store.counts = counts;
    store.replace = MemoryPaymentStore.prototype.replace.bind(store);
    await merchant.payments.reconcile();
  });

  it('counts refused payments, and records no operation for a refused one', async () => {
    await restart({ maxInFlight: 1 });
    expect(await recorder.values('card_payment.overload.refused')).toEqual({
      doPayment: 0,
      init3d: 0,
      startHosted: 0,
    });
    const running = merchant.payments.doPayment(sale());
    await expect(merchant.payments.doPayment(sale())).rejects.toMatchObject({ code: 'PAYMENT_OVERLOAD' });
    await expect(merchant.payments.init3d(sale())).rejects.toMatchObject({ code: 'PAYMENT_OVERLOAD' });
    await running;
    expect(await recorder.values('card_payment.overload.refused')).toEqual({
      doPayment: 1,
      init3d: 1,
      startHosted: 0,
    });
    expect(Object.keys(await recorder.values('card_payment.operation.duration'))).toEqual(['doPayment succeeded']);
    expect(recorder.spans.filter(({ name }) => name === 'card_payment.doPayment')).toHaveLength(1);
  });

  it('exports every metric that docs/observability.md names, and no other', async () => {
    await restart({ maxInFlight: 1 });
    await merchant.payments.doPayment(sale());
    const exported = new Set((await recorder.points()).map(({ name }) => name));
    const [, section = ''] = readFileSync('docs/observability.md', 'utf8').split(/^### (?:Metrics|Alerts)$/m);
    const named = section.matchAll(/(?:^- |, and )`(card_payment\.[\w.]+)`/gm);
    expect(new Set([...named].map(([, name]) => name))).toEqual(exported);
  });

  it('exports nothing for an application that has closed', async () => {
    await merchant.app.close();
    expect(await recorder.values('card_payment.store.up')).toEqual({});
    await start();
  });

  it('does not keep a host from taking payments if its tracer throws', async () => {
    const broken = {
      getTracer: () => ({
        startSpan: () => {
          throw new Error('broken');
        },
      }),
    };
    trace.disable();
    trace.setGlobalTracerProvider(broken as never);
    expect(await merchant.payments.doPayment(sale())).toMatchObject({ state: 'succeeded' });
  });

  it('changes nothing for a host without an SDK', async () => {
    recorder.stop();
    expect(await merchant.payments.doPayment(sale())).toMatchObject({ state: 'succeeded' });
    const { payment } = await merchant.payments.init3d(sale());
    expect(await store.find('default', payment.conversationId)).not.toHaveProperty('traceparent');
  });
});
