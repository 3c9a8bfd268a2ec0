import 'reflect-metadata';
import { jest } from '@jest/globals';
import {
  type ArgumentsHost,
  Controller,
  Get,
  type INestApplication,
  NotFoundException,
  Param,
  Res,
  UseFilters,
} from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { adapterOf, type Platform, PLATFORMS } from '../e2e/merchant.js';
import { loggerInto } from '../operations/log-lines.js';
import {
  PaymentError,
  PaymentInit3dError,
  PaymentNotFoundError,
  PaymentShutdownError,
  PaymentValidationError,
} from '../../lib/errors/index.js';
import { PaymentExceptionFilter } from '../../lib/http/payment-exception.filter.js';
import { aPayment } from '../../lib/testing/a-payment.js';

class HostsOwnError extends PaymentError {
  readonly code = 'SHOP_SPECIAL';
}

const WRONG = { path: 'cardDetails.expDate', rule: 'expiry', message: { en: 'is wrong', tr: 'yanlış' } };

// What the filter answers is in test/api/expected/errors.txt and, on both adapters, in test/e2e/expected/buyer-pages.txt.

/** One of each kind, and the status with which Nest itself answers it. */
const CASES: Readonly<Record<string, readonly [error: PaymentError, status: number]>> = {
  validation: [new PaymentValidationError([WRONG]), 400],
  missing: [new PaymentNotFoundError(), 404],
  declined: [new PaymentInit3dError(aPayment({ state: 'failed', reason: 'declined' })), 402],
  shutdown: [new PaymentShutdownError(), 500],
  own: [new HostsOwnError('special'), 500],
};

@Controller()
class ThrowingController {
  @Get('unfiltered/:name')
  unfiltered(@Param('name') name: string): never {
    throw CASES[name]?.[0] ?? new Error('no such case');
  }

  @Get('other')
  @UseFilters(PaymentExceptionFilter)
  other(): never {
    throw new NotFoundException('not ours');
  }

  @Get('late')
  @UseFilters(PaymentExceptionFilter)
  late(@Res() response: { send(text: string): void }): never {
    response.send('sent already');
    throw new PaymentNotFoundError();
  }
}

describe.each(PLATFORMS)('an application on %s', (platform: Platform) => {
  const log: string[] = [];
  let app: INestApplication;

  beforeAll(async () => {
    const module = await Test.createTestingModule({ controllers: [ThrowingController] }).compile();
    app = module.createNestApplication(adapterOf(platform), { logger: loggerInto(log) });
    await app.listen(0, '127.0.0.1');
  });
  afterAll(() => app.close());

  const get = async (path: string): Promise<Response> => fetch(`${await app.getUrl()}/${path}`);

  it('leaves other errors to Nest', async () => {
    const response = await get('other');
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ message: 'not ours' });
  });

  it('leaves an answer alone that is on its way', async () => {
    const response = await get('late');
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('sent already');
  });

  it.each(Object.keys(CASES))('without the filter, is answered by Nest, and logs no line: %s', async (name) => {
    const [error, status] = CASES[name]!;
    log.length = 0;
    const response = await get(`unfiltered/${name}`);
    expect(response.status).toBe(status);
    const message = status < 500 ? error.message : 'Internal server error';
    expect(await response.json()).toEqual({ statusCode: status, message });
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

it('takes as shopUrl a path or an absolute URL alone', () => {
  for (const shopUrl of ['/', '/shop?a=1', 'https://shop.example/']) new PaymentExceptionFilter({ shopUrl });
  for (const shopUrl of ['javascript:alert(1)', '//evil.example', 'shop', '', '/\\evil.example']) {
    expect(() => new PaymentExceptionFilter({ shopUrl })).toThrow(TypeError);
  }
});
