import { Controller, Inject, Injectable, type ModuleMetadata, type Provider, Scope, type Type } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { OnPayment, type PaymentEvent } from 'nestjs-card-payment';
import { HandlerFinder, type PaymentHandler } from '../../lib/events/handler-finder.js';

const STATE_WITHOUT_EVENT = 'charging' as string as 'succeeded';

@Injectable()
class Orders {
  readonly seen: string[] = [];

  @OnPayment(['succeeded', 'failed'])
  settled({ eventId }: PaymentEvent): void {
    this.seen.push(eventId);
  }

  @OnPayment(['failed', 'expired'], { id: 'give-back', name: 'eu', concurrency: 2, timeoutMs: 500 })
  @OnPayment('review', { id: 'look', name: 'eu' })
  look(): void {}

  other(): void {}
}

@Injectable()
class BookOrders extends Orders {}

@Controller('mail')
class MailController {
  @OnPayment('expired')
  remind(): void {}
}

@Injectable({ scope: Scope.REQUEST })
class RequestScoped {
  @OnPayment('succeeded')
  paid(): void {}
}

@Injectable()
class DependsOnRequest {
  constructor(@Inject(RequestScoped) readonly request: RequestScoped) {}

  @OnPayment('failed')
  failed(): void {}
}

@Injectable({ scope: Scope.TRANSIENT })
class Transient {}

@Injectable()
class Twice {
  @OnPayment('succeeded', { id: 'same' })
  one(): void {}
  @OnPayment('failed', { id: 'same' })
  two(): void {}
}

@Injectable()
class OncePerAccount {
  @OnPayment('succeeded', { id: 'same' })
  one(): void {}
  @OnPayment('succeeded', { id: 'same', name: 'eu' })
  two(): void {}
}

@Injectable()
class NeverCalled {
  @OnPayment(['succeeded', STATE_WITHOUT_EVENT])
  never(): void {}
}

function handlerWith(options: { id?: string; concurrency?: number; timeoutMs?: number }) {
  @Injectable()
  class Configured {
    @OnPayment('succeeded', options)
    paid(): void {}
  }
  return Configured;
}

async function find(metadata: ModuleMetadata): Promise<PaymentHandler[]> {
  const imports = [DiscoveryModule, ...(metadata.imports ?? [])];
  const providers = [HandlerFinder, ...(metadata.providers ?? [])];
  const module = await Test.createTestingModule({ ...metadata, imports, providers }).compile();
  return module.get(HandlerFinder).find();
}

describe('HandlerFinder', () => {
  it('finds each @OnPayment on methods of providers and controllers, and calls it on its own instance', async () => {
    const orders = new Orders();
    const providers = [{ provide: Orders, useValue: orders }];
    const handlers = await find({ providers, controllers: [MailController] });
    const usual = { account: 'default', concurrency: 10, timeoutMs: null };
    expect(handlers.map(({ handle: _handle, ...found }) => found)).toEqual([
      { ...usual, id: 'Orders.settled', types: ['payment.succeeded', 'payment.failed'] },
      { ...usual, id: 'look', account: 'eu', types: ['payment.review'] },
      { id: 'give-back', account: 'eu', types: ['payment.failed', 'payment.expired'], concurrency: 2, timeoutMs: 500 },
      { ...usual, id: 'MailController.remind', types: ['payment.expired'] },
    ]);
    handlers[0]!.handle({ eventId: 'ONE:1' } as PaymentEvent);
    expect(orders.seen).toEqual(['ONE:1']);
  });

  const VALUES = [Object.create(null), null, 'text', 7, () => undefined, new Proxy({}, {})] as unknown[];

  it.each<[string, Provider[], found: string[]]>([
    [
      'an instance once, even with several tokens',
      [
        Orders,
        { provide: 'alias', useExisting: Orders },
        { provide: 'factory', useFactory: (orders: Orders) => orders, inject: [Orders] },
      ],
      ['default Orders.settled', 'eu look', 'eu give-back'],
    ],
    [
      'inherited methods, with ids of the subclass',
      [BookOrders],
      ['default BookOrders.settled', 'eu look', 'eu give-back'],
    ],
    ['the same id in two accounts', [OncePerAccount], ['default same', 'eu same']],
    [
      'nothing in providers without a prototype, or that are no objects',
      [...VALUES.map((useValue, index) => ({ provide: `value-${index}`, useValue })), Transient],
      [],
    ],
  ])('finds %s', async (_what, providers, found) => {
    const handlers = await find({ providers });
    expect(handlers.map(({ id, account }) => `${account} ${id}`)).toEqual(found);
  });

  it.each([
    [
      'on a provider that depends on a request-scoped one',
      [RequestScoped, DependsOnRequest],
      /DependsOnRequest\.failed: is on a request-sc/,
    ],
    ['whose id is used twice', [Twice], /@OnPayment same: stands twice/],
    [
      'for a state without an event',
      [NeverCalled],
      /NeverCalled\.never: names a state that has no event; choose of succeeded, failed, expired, unknown, review/,
    ],
    ...['', '  ', 'a\0b', 'x'.repeat(256), 7 as unknown as string].map((id): [string, Type[], RegExp] => [
      `with the id ${JSON.stringify(id).slice(0, 10)}`,
      [handlerWith({ id })],
      /has an id that is blank, longer than 255 characters, or cannot be stored/,
    ]),
    ...[0, -1, 1.5, Number.NaN, Infinity].map((concurrency): [string, Type[], RegExp] => [
      `with a concurrency of ${concurrency}`,
      [handlerWith({ concurrency })],
      /@OnPayment Configured\.paid: has a concurrency that is no whole number above 0/,
    ]),
    ...[0, -1, 1.5, Number.NaN, 2_147_483_648].map((timeoutMs): [string, Type[], RegExp] => [
      `with a timeoutMs of ${timeoutMs}`,
      [handlerWith({ timeoutMs })],
      /@OnPayment Configured\.paid: has a timeoutMs that is no whole number from 1 to 2147483647/,
    ]),
  ] as [string, Type[], RegExp][])('refuses a handler %s', async (_what, providers, message) => {
    await expect(find({ providers })).rejects.toThrow(message);
    await expect(find({ providers })).rejects.toMatchObject({ code: 'PAYMENT_CONFIGURATION' });
  });

  it.each([
    { concurrency: 1, timeoutMs: 1, id: 'x'.repeat(255) },
    { concurrency: 100, timeoutMs: 2_147_483_647 },
  ])('accepts %j', async (options) => {
    expect(await find({ providers: [handlerWith(options)] })).toMatchObject([options]);
  });
});
