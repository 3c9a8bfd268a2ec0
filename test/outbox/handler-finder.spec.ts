import { Controller, Inject, Injectable, type ModuleMetadata, Scope, type Type } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { OnPayment, type PaymentEvent } from 'nestjs-card-payment';
import { HandlerFinder, type PaymentHandler } from '../../lib/outbox/handler-finder.js';

const UNHEARD_STATE = 'charging' as string as 'succeeded';
const EVENT = { eventId: 'ONE:1' } as PaymentEvent;

@Injectable()
class Orders {
  readonly seen: string[] = [];

  @OnPayment(['succeeded', 'failed'])
  settled({ eventId }: PaymentEvent): void {
    this.seen.push(eventId);
  }

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
class OfARequest {
  @OnPayment('succeeded')
  paid(): void {}
}

@Injectable()
class NeedsTheRequest {
  constructor(@Inject(OfARequest) readonly request: OfARequest) {}

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
class OnceEach {
  @OnPayment('succeeded', { id: 'same' })
  one(): void {}
  @OnPayment('succeeded', { id: 'same', name: 'eu' })
  two(): void {}
}

@Injectable()
class Unheard {
  @OnPayment(['succeeded', UNHEARD_STATE])
  never(): void {}
}

/** A handler with these options. */
function optioned(options: { concurrency?: number; timeoutMs?: number }) {
  @Injectable()
  class Fussy {
    @OnPayment('succeeded', options)
    paid(): void {}
  }
  return Fussy;
}

async function find(metadata: ModuleMetadata): Promise<PaymentHandler[]> {
  const imports = [DiscoveryModule, ...(metadata.imports ?? [])];
  const providers = [HandlerFinder, ...(metadata.providers ?? [])];
  const module = await Test.createTestingModule({ ...metadata, imports, providers }).compile();
  return module.get(HandlerFinder).find();
}

describe('HandlerFinder', () => {
  it('finds marked methods of providers and controllers, named after class and method', async () => {
    const handlers = await find({ providers: [Orders], controllers: [MailController] });
    expect(handlers.map(({ id, account, types }) => ({ id, account, types }))).toEqual([
      { id: 'Orders.settled', account: 'default', types: ['payment.succeeded', 'payment.failed'] },
      { id: 'look', account: 'eu', types: ['payment.review'] },
      { id: 'MailController.remind', account: 'default', types: ['payment.expired'] },
    ]);
  });

  it('calls them on their own instance', async () => {
    const orders = new Orders();
    const [settled] = await find({ providers: [{ provide: Orders, useValue: orders }] });
    settled!.handle(EVENT);
    expect(orders.seen).toEqual(['ONE:1']);
  });

  it('finds one instance once, under however many tokens it stands', async () => {
    const handlers = await find({
      providers: [
        Orders,
        { provide: 'alias', useExisting: Orders },
        { provide: 'factory', useFactory: (orders: Orders) => orders, inject: [Orders] },
      ],
    });
    expect(handlers.map(({ id }) => id)).toEqual(['Orders.settled', 'look']);
  });

  it('finds inherited methods under the name of the class that inherits', async () => {
    const handlers = await find({ providers: [BookOrders] });
    expect(handlers.map(({ id }) => id)).toEqual(['BookOrders.settled', 'look']);
  });

  it('is not put off by providers without a prototype, or that are no objects', async () => {
    const odd = [Object.create(null), null, 'text', 7, () => undefined, new Proxy({}, {})] as unknown[];
    const providers = odd.map((useValue, index) => ({ provide: `odd-${index}`, useValue }));
    expect(await find({ providers: [...providers, Transient] })).toEqual([]);
  });

  it('lets two accounts use one id', async () => {
    const handlers = await find({ providers: [OnceEach] });
    expect(handlers.map(({ id, account }) => `${account} ${id}`)).toEqual(['default same', 'eu same']);
  });

  it.each([
    [
      'on a request-scoped provider',
      [OfARequest],
      /@OnPayment OfARequest\.paid: is on a request-scoped or transient provider/,
    ],
    ['on one that needs such a provider', [OfARequest, NeedsTheRequest], /NeedsTheRequest\.failed: is on a request-sc/],
    ['with an id used twice', [Twice], /@OnPayment same: stands twice/],
    [
      'of a state that has no event',
      [Unheard],
      /Unheard\.never: names a state that has no event; choose of succeeded, failed, expired, unknown, review/,
    ],
    ...[0, -1, 1.5, Number.NaN, Infinity].map((concurrency): [string, Type[], RegExp] => [
      `with a concurrency of ${concurrency}`,
      [optioned({ concurrency })],
      /@OnPayment Fussy\.paid: has a concurrency that is no whole number above 0/,
    ]),
    ...[0, -1, 1.5, Number.NaN, 2_147_483_648].map((timeoutMs): [string, Type[], RegExp] => [
      `with a timeoutMs of ${timeoutMs}`,
      [optioned({ timeoutMs })],
      /@OnPayment Fussy\.paid: has a timeoutMs that is no whole number from 1 to 2147483647/,
    ]),
  ] as [string, Type[], RegExp][])('refuses a handler %s', async (_what, providers, message) => {
    await expect(find({ providers })).rejects.toThrow(message);
    await expect(find({ providers })).rejects.toMatchObject({ code: 'PAYMENT_CONFIGURATION' });
  });

  it.each([
    { concurrency: 1, timeoutMs: 1 },
    { concurrency: 100, timeoutMs: 2_147_483_647 },
  ])('takes %j', async (options) => {
    expect(await find({ providers: [optioned(options)] })).toMatchObject([options]);
  });

  it('names all that is wrong at once', async () => {
    await expect(find({ providers: [Twice, Unheard] })).rejects.toMatchObject({
      problems: [{ option: '@OnPayment same' }, { option: '@OnPayment Unheard.never' }],
    });
  });
});
