import { OnPayment } from 'nestjs-card-payment';
import { marksOf } from '../../lib/events/on-payment.decorator.js';

class Handlers {
  @OnPayment('succeeded')
  paid(): void {}

  @OnPayment(['failed', 'expired'], { id: 'give-back', name: 'eu', concurrency: 2, timeoutMs: 500 })
  @OnPayment('review', { id: 'look' })
  settled(): string {
    return 'called';
  }

  plain(): void {}
}

describe('@OnPayment', () => {
  it('marks a method with its states, the default account and no id', () => {
    expect(marksOf(method('paid'))).toEqual([
      { of: 'payment', states: ['succeeded'], id: null, account: 'default', concurrency: 10, timeoutMs: null },
    ]);
  });

  it('can be applied to a method more than once, each time with its own options', () => {
    expect(marksOf(method('settled'))).toEqual([
      { of: 'payment', states: ['review'], id: 'look', account: 'default', concurrency: 10, timeoutMs: null },
      { of: 'payment', states: ['failed', 'expired'], id: 'give-back', account: 'eu', concurrency: 2, timeoutMs: 500 },
    ]);
  });

  it('changes neither the method nor other methods', () => {
    expect(new Handlers().settled()).toBe('called');
    expect(marksOf(method('plain'))).toEqual([]);
  });

  function method(name: string): object {
    return Reflect.get(Handlers.prototype, name) as object;
  }
});
