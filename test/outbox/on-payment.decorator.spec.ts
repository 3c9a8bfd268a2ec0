import { OnPayment } from 'nestjs-card-payment';
import { onPaymentMetadata } from '../../lib/outbox/on-payment.decorator.js';

class Handlers {
  @OnPayment('succeeded')
  paid(): void {}

  @OnPayment(['failed', 'expired'], { id: 'give-back', name: 'eu', concurrency: 2, timeoutMs: 500 })
  @OnPayment('review', { id: 'look' })
  over(): string {
    return 'called';
  }

  plain(): void {}
}

describe('@OnPayment', () => {
  it('marks a method with its states, of the unnamed account and under no id of its own', () => {
    expect(onPaymentMetadata(method('paid'))).toEqual([
      { states: ['succeeded'], id: null, account: 'default', concurrency: 10, timeoutMs: null },
    ]);
  });

  it('may stand on one method more than once, each with its options', () => {
    expect(onPaymentMetadata(method('over'))).toEqual([
      { states: ['review'], id: 'look', account: 'default', concurrency: 10, timeoutMs: null },
      { states: ['failed', 'expired'], id: 'give-back', account: 'eu', concurrency: 2, timeoutMs: 500 },
    ]);
  });

  it('leaves the method as it is, and others unmarked', () => {
    expect(new Handlers().over()).toBe('called');
    expect(onPaymentMetadata(method('plain'))).toEqual([]);
  });

  function method(name: string): object {
    return Reflect.get(Handlers.prototype, name) as object;
  }
});
