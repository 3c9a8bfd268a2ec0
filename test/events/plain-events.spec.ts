import { jest } from '@jest/globals';
import { type DynamicModule, Injectable, Module, type Type } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { EventEmitterModule, OnEvent } from '@nestjs/event-emitter';
import { Test } from '@nestjs/testing';
import type { PaymentEvent } from 'nestjs-card-payment';
import { PlainEvents } from '../../lib/events/plain-events.js';
import { PaymentSettings } from '../../lib/options/payment-settings.js';
import { PaymentClock } from '../../lib/runtime/clock.js';
import { MemoryPaymentStore } from '../../lib/store/memory/memory-payment-store.js';
import { PAYMENT_STORE } from '../../lib/store/payment-store.js';
import { aPaymentEvent } from '../../lib/testing/a-payment.js';
import { TestClock } from '../../lib/testing/test-clock.js';
import { loggerInto, logLines } from '../operations/log-lines.js';
import { quiet } from '../operations/test-shop.js';

const EVENT: PaymentEvent = { ...aPaymentEvent({ state: 'succeeded' }), eventId: 'ONE:1' };

const SETTINGS = {
  provide: PaymentSettings,
  useValue: { credentials: { clientSecret: 'a secret of ours', apiKey: null } },
};
const CLOCK = { provide: PaymentClock, useValue: new TestClock() };
const store = new MemoryPaymentStore();
const STORE = { provide: PAYMENT_STORE, useValue: store };

@Injectable()
class Listener {
  readonly received: unknown[] = [];
  act = (): unknown => undefined;

  @OnEvent('payment.succeeded', { suppressErrors: false })
  @OnEvent('payment.failed', { suppressErrors: false })
  on(event: PaymentEvent): unknown {
    this.received.push(event);
    return this.act();
  }
}

describe('PlainEvents', () => {
  const records: unknown[] = [];
  const log = logLines(records);

  async function start(
    imports: (DynamicModule | Type)[] = [EventEmitterModule.forRoot()],
  ): Promise<{ plain: PlainEvents; listener: Listener }> {
    const builder = Test.createTestingModule({
      imports: [DiscoveryModule, ...imports],
      providers: [PlainEvents, CLOCK, SETTINGS, STORE, Listener],
    });
    const module = await builder.setLogger(loggerInto(log, records)).compile();
    await module.init();
    log.length = 0;
    records.length = 0;
    const plain = module.get(PlainEvents);
    plain.connect();
    return { plain, listener: module.get(Listener) };
  }

  it('reach the listeners of their type after emit() has returned', async () => {
    const { plain, listener } = await start();
    expect(plain.isConnected).toBe(true);
    plain.emit(EVENT);
    plain.emit(aPaymentEvent({ state: 'unknown' }));
    expect(listener.received).toEqual([]);
    for (let turns = 0; turns < 20; turns += 1) await Promise.resolve();
    expect(listener.received).toEqual([]);
    await quiet();
    expect(listener.received).toEqual([EVENT]);
  });

  it('survive a listener that rejects, whose error is logged without the card number', async () => {
    const { plain, listener } = await start();
    listener.act = () => Promise.reject(new Error('card 4508 0345 0803 4509'));
    plain.emit(EVENT);
    await quiet();
    expect(log).toEqual([expect.stringMatching(/^error A listener of payment\.succeeded \(@OnEvent\) failed/)]);
    expect(log[0]).toMatch(
      /event ONE:1; .* @OnPayment or @OnRefund: Error: card [* ]+, at .*test\/events\/plain-events\.spec\.ts:/,
    );
    expect(records).toMatchObject([
      { type: 'payment.succeeded', eventId: 'ONE:1', error: 'Error: card **** **** **** ****' },
    ]);
  });

  it('of failed and expired are dropped and logged if the store cannot say whether the order is held', async () => {
    const { plain, listener } = await start();
    const [free, unsure] = ['free', 'unsure'].map((reference) => aPaymentEvent({ state: 'failed', reference }));
    plain.emit(free!);
    await quiet();
    jest.spyOn(store, 'isHeld').mockRejectedValue(new Error('down'));
    plain.emit(unsure!);
    await quiet();
    expect(listener.received).toEqual([free]);
    expect(log).toEqual([
      expect.stringMatching(/^error Event .* is not emitted \(payment.failed\): the payment store/),
    ]);
  });

  it('are emitted by EventEmitter2, not by another class of the host with a method of that name', async () => {
    const emitted: unknown[] = [];
    class Outbox {
      emitAsync(...given: unknown[]): void {
        emitted.push(given);
      }
    }
    @Module({ providers: [Outbox] })
    class OutboxModule {}
    expect((await start([OutboxModule])).plain.isConnected).toBe(false);
    const { plain, listener } = await start([OutboxModule, EventEmitterModule.forRoot()]);
    plain.emit(EVENT);
    await quiet();
    expect([emitted, listener.received]).toEqual([[], [EVENT]]);
  });

  it('are not emitted if the host has no emitter', async () => {
    const { plain, listener } = await start([]);
    expect(plain.isConnected).toBe(false);
    plain.emit(EVENT);
    await quiet();
    expect([listener.received, log]).toEqual([[], []]);
  });
});
