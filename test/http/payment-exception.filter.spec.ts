import 'reflect-metadata';
import { jest } from '@jest/globals';
import {
  type ArgumentsHost,
  Controller,
  Get,
  Logger,
  type INestApplication,
  Module,
  NotFoundException,
  Param,
  Res,
} from '@nestjs/common';
import { type AbstractHttpAdapter, APP_FILTER } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { loggerInto, logLines } from '../operations/log-lines.js';
import {
  PaymentError,
  PaymentInit3dError,
  PaymentNotFoundError,
  PaymentShutdownError,
  PaymentValidationError,
} from '../../lib/errors/index.js';
import { type PaymentErrorBody, PaymentExceptionFilter } from '../../lib/http/payment-exception.filter.js';
import { aPayment } from '../../lib/testing/a-payment.js';

class HostsOwnError extends PaymentError {
  readonly code = 'SHOP_SPECIAL';
}

const PROBLEM = { path: 'cardDetails.expDate', rule: 'expiry' };
const ISSUES = [{ ...PROBLEM, field: 'Son kullanma tarihi', message: 'Son kullanma tarihi ay ve yıl olmalı' }];
const CONVERSATION = { conversationId: 'ABC12345678901234567', state: 'failed' } as const;

/** One of each kind: what each error is answered with is in test/api/expected/errors.txt. */
const CASES: Record<string, [error: PaymentError, status: number, more?: Partial<PaymentErrorBody>]> = {
  validation: [
    new PaymentValidationError([
      { ...PROBLEM, message: { en: '$property is wrong', tr: '$property ay ve yıl olmalı' } },
    ]),
    400,
    { issues: ISSUES },
  ],
  missing: [new PaymentNotFoundError(), 404],
  declined: [new PaymentInit3dError(aPayment({ ...CONVERSATION, reason: 'declined' })), 402, CONVERSATION],
  shutdown: [new PaymentShutdownError(), 503],
  own: [new HostsOwnError('special'), 500],
};

const BUYER_TEXTS: Record<string, { tr: RegExp; en: RegExp }> = {
  validation: { tr: /girdiğiniz bilgileri kontrol edin/, en: /check what you entered/ },
  missing: { tr: /öyle bir ödeme yok/, en: /no such payment/ },
  declined: { tr: /Bankanız ödemeyi reddetti/, en: /Your bank declined/ },
  shutdown: { tr: /Daha önce ödediyseniz.*yeniden ödemeyin/, en: /If you have paid before, please do not pay again/ },
  own: { tr: /mağazayla iletişime/, en: /contact the shop before you pay again/ },
};

@Controller()
class ThrowingController {
  @Get('error/:name')
  error(@Param('name') name: string): never {
    throw CASES[name]?.[0] ?? new Error('no such case');
  }

  @Get('other')
  other(): never {
    throw new NotFoundException('not ours');
  }

  @Get('late')
  late(@Res() response: { send(text: string): void }): never {
    response.send('sent already');
    throw new PaymentNotFoundError();
  }
}

@Module({ controllers: [ThrowingController] })
class WithoutFilter {}

@Module({ controllers: [ThrowingController], providers: [{ provide: APP_FILTER, useClass: PaymentExceptionFilter }] })
class WithFilter {}

const ADAPTERS: [string, () => AbstractHttpAdapter][] = [
  ['Express', () => new ExpressAdapter()],
  ['Fastify', () => new FastifyAdapter()],
];

describe.each(ADAPTERS)('PaymentExceptionFilter on %s', (_adapter, adapter) => {
  describe.each([
    ['as APP_FILTER', WithFilter],
    ['made by hand', WithoutFilter],
  ])('%s', (_way, root) => {
    let app: INestApplication;
    let url: string;

    beforeAll(async () => {
      const module = await Test.createTestingModule({ imports: [root] }).compile();
      app = module.createNestApplication(adapter());
      if (root === WithoutFilter) app.useGlobalFilters(new PaymentExceptionFilter());
      app.useLogger(false);
      await app.listen(0, '127.0.0.1');
      url = await app.getUrl();
    });
    afterAll(() => app.close());

    it.each(Object.keys(CASES))('answers %s', async (name) => {
      const [error, status, more] = CASES[name]!;
      const response = await fetch(`${url}/error/${name}`);
      expect(response.status).toBe(status);
      expect(response.headers.get('content-type')).toMatch(/^application\/json/);
      expect(response.headers.get('retry-after')).toBe(name === 'shutdown' ? '5' : null);
      const { tellBuyer, ...body } = (await response.json()) as PaymentErrorBody;
      expect(body).toEqual({ statusCode: status, code: error.code, message: error.message, ...more });
      expect(tellBuyer).toMatch(BUYER_TEXTS[name]!.tr);
      const english = await fetch(`${url}/error/${name}`, { headers: { 'accept-language': 'de, en;q=0.9' } });
      expect(((await english.json()) as PaymentErrorBody).tellBuyer).toMatch(BUYER_TEXTS[name]!.en);
    });

    it('leaves other errors to Nest', async () => {
      const response = await fetch(`${url}/other`);
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({ message: 'not ours' });
    });

    it('leaves an answer alone that is on its way', async () => {
      const response = await fetch(`${url}/late`);
      expect(response.status).toBe(200);
      expect(await response.text()).toBe('sent already');
    });
  });
});

it('speaks the language that the host gives it, where the browser has no wish', async () => {
  const module = await Test.createTestingModule({ imports: [WithoutFilter] }).compile();
  const app = module.createNestApplication({ logger: false });
  app.useGlobalFilters(new PaymentExceptionFilter({ language: 'en' }));
  await app.listen(0, '127.0.0.1');
  try {
    const answer = await fetch(`${await app.getUrl()}/error/missing`);
    expect(await answer.json()).toMatchObject({ tellBuyer: 'There is no such payment.' });
  } finally {
    await app.close();
  }
});

describe.each(ADAPTERS)('without the filter, on %s', (_adapter, adapter) => {
  const log = logLines();
  let app: INestApplication;

  beforeAll(async () => {
    const module = await Test.createTestingModule({ imports: [WithoutFilter] }).compile();
    app = module.createNestApplication(adapter());
    await app.listen(0, '127.0.0.1');
  });
  beforeEach(() => {
    Logger.overrideLogger(loggerInto(log));
  });
  afterAll(() => app.close());

  it.each(Object.keys(CASES))('Nest answers %s: 4xx as it is and without a log line, all else as 500', async (name) => {
    const [error, status] = CASES[name]!;
    const response = await fetch(`${await app.getUrl()}/error/${name}`);
    const isCallers = status < 500;
    expect(response.status).toBe(isCallers ? status : 500);
    const message = isCallers ? error.message : 'Internal server error';
    expect(await response.json()).toEqual({ statusCode: isCallers ? status : 500, message });
    expect(log).toEqual([]);
  });
});

it('throws on where there is no HTTP', () => {
  const error = new PaymentNotFoundError();
  const host = { getType: () => 'graphql' } as ArgumentsHost;
  expect(() => new PaymentExceptionFilter().catch(error, host)).toThrow(error);
});

it.each([
  [true, 200],
  [false, 500],
])(
  'only ends an answer that the host has begun on Fastify’s raw response (headers sent: %j)',
  (headersSent, status) => {
    const [send, end] = [jest.fn(), jest.fn()];
    const raw = { headersSent, writableEnded: false, statusCode: 200, end };
    const response = { sent: true, raw, header: send, send };
    const http = { getResponse: () => response, getRequest: () => ({}) };
    const host = { getType: () => 'http', switchToHttp: () => http } as unknown as ArgumentsHost;
    new PaymentExceptionFilter().catch(new PaymentNotFoundError(), host);
    expect([send.mock.calls.length, end.mock.calls.length, raw.statusCode]).toEqual([0, 1, status]);
  },
);

it.each(['javascript:alert(1)', '//evil.example', 'shop', '', '/\\evil.example'])('takes no shopUrl %j', (shopUrl) => {
  expect(() => new PaymentExceptionFilter({ shopUrl })).toThrow(TypeError);
});

it.each(['/', '/shop?a=1', 'https://shop.example/'])('takes the shopUrl %j', (shopUrl) => {
  expect(() => new PaymentExceptionFilter({ shopUrl })).not.toThrow();
});
