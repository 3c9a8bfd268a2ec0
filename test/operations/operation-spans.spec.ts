import { Logger } from '@nestjs/common';
import type { Payment } from 'nestjs-card-payment';
import { connectTelemetry } from '../../lib/telemetry/open-telemetry.js';
import { TelemetryRecorder } from '../telemetry/recorder.js';
import type { AssembledFlows } from './assembled-flows.js';
import { DECLINED, LOST } from './fake-gateway.js';
import { sale, TestShop } from './test-shop.js';

describe('the span of an operation', () => {
  let recorder: TelemetryRecorder;
  let shop: TestShop;
  let flows: AssembledFlows;

  beforeEach(async () => {
    Logger.overrideLogger(false);
    recorder = new TelemetryRecorder().start();
    await connectTelemetry();
    shop = new TestShop();
    flows = await shop.start();
  });
  afterEach(() => recorder.stop());

  /** The account, the payment and its state, and what else is expected. */
  function expectSpan(
    operation: string,
    { conversationId, state }: Pick<Payment, 'conversationId' | 'state'>,
    more = {},
  ) {
    expect(recorder.span(`card_payment.${operation}`).attributes).toMatchObject({
      'card_payment.operation': operation,
      'card_payment.account': 'default',
      'card_payment.conversation_id': conversationId,
      'card_payment.state': state,
      ...more,
    });
  }

  it.each([
    ['succeeded', null],
    ['failed', DECLINED],
    ['unknown', LOST],
  ] as const)('doPayment has the state of the payment: %s', async (state, answer) => {
    if (answer) shop.gateway.willAnswer('DoPayment', answer);
    const { conversationId } = await flows.payments.doPayment(sale());
    expectSpan('doPayment', { conversationId, state }, { 'card_payment.kind': 'direct' });
  });

  it('auth3d links to that of init3d', async () => {
    const { conversationId } = await flows.payments.init3d(sale());
    expectSpan('init3d', { conversationId, state: 'awaiting' });
    await flows.payments.auth3d({ conversationId, fields: { Code: 'B0000', conversationId } });
    expectSpan('auth3d', { conversationId, state: 'succeeded' });
    const { spanId } = recorder.span('card_payment.init3d').spanContext();
    expect(recorder.span('card_payment.auth3d').links.map(({ context }) => context.spanId)).toEqual([spanId]);
  });

  it('auth3d has no link if init3d was not traced', async () => {
    recorder.stop();
    const { conversationId } = await flows.payments.init3d(sale());
    expect((await shop.store.find('default', conversationId))?.traceparent ?? null).toBeNull();
    recorder = new TelemetryRecorder().start();
    await flows.payments.auth3d({ conversationId, fields: { Code: 'B0000', conversationId } });
    expect(recorder.span('card_payment.auth3d').links).toEqual([]);
  });

  it('inquire has the state of the payment', async () => {
    shop.gateway.willAnswer('DoPayment', LOST);
    const { conversationId } = await flows.payments.doPayment(sale());
    await flows.payments.inquire(conversationId);
    expectSpan('inquire', { conversationId, state: 'succeeded' });
  });
});
