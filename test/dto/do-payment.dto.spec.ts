import 'reflect-metadata';
import {
  Body,
  Controller,
  type INestApplication,
  Post,
  ValidationPipe,
  type ValidationPipeOptions,
} from '@nestjs/common';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { CARD_CHECKS, CardDetailsDto } from '../../lib/dto/card.dto.js';
import { DoPaymentDto, Init3dDto } from '../../lib/dto/sale.dto.js';
import { validateInput } from '../../lib/dto/validate-input.js';
import { CARD, fullInput, MASKED, NON_LUHN, NOW, sampleInput } from './sample-input.js';

@Controller()
class CheckoutController {
  received?: DoPaymentDto;

  @Post('direct')
  direct(@Body() payment: DoPaymentDto): DoPaymentDto {
    this.received = payment;
    return payment;
  }

  @Post('3d')
  threeD(@Body() payment: Init3dDto): Init3dDto {
    this.received = payment;
    return payment;
  }
}

const STRICT: ValidationPipeOptions = { transform: true, whitelist: true, forbidNonWhitelisted: true };

describe.each([
  ['Express', () => undefined],
  ['Fastify', () => new FastifyAdapter()],
])('a ValidationPipe of a host on %s', (_name, adapter) => {
  let app: INestApplication;

  async function start(options: ValidationPipeOptions): Promise<void> {
    const module = await Test.createTestingModule({ controllers: [CheckoutController] }).compile();
    const fastify = adapter();
    app = fastify ? module.createNestApplication(fastify) : module.createNestApplication();
    app.useGlobalPipes(new ValidationPipe(options));
    await app.listen(0, '127.0.0.1');
  }

  async function post(path: string, body: unknown): Promise<{ status: number; text: string; messages: string[] }> {
    const response = await fetch(`${await app.getUrl()}/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    const { message } = JSON.parse(text) as { message?: string[] };
    return { status: response.status, text, messages: message ?? [] };
  }

  afterEach(() => app.close());

  it.each(['direct', '3d'])('takes a good %s payment, with its parts made into classes', async (path) => {
    await start(STRICT);
    const { status, text } = await post(path, fullInput());
    const { received } = app.get(CheckoutController);
    expect(status).toBe(201);
    expect(received?.cardDetails).toBeInstanceOf(CardDetailsDto);
    expect({ ...received?.cardDetails }).toEqual(CARD);
    expect(validateInput(DoPaymentDto, received, { luhn: true, now: NOW }).reference).toBe('order-1');
    expect(text).toContain(MASKED);
    expect(text).not.toContain(CARD.cardNo);
  });

  it.each([STRICT, {}, { ...STRICT, errorFormat: 'grouped' as const }])(
    'names each path and shows no value (%j)',
    async (options) => {
      await start(options);
      const { status, text } = await post('direct', {
        ...sampleInput(),
        cardDetails: { cardNo: NON_LUHN, expDate: '1350', cvv: 'secret' },
        transactionDetails: { amount: '149.9055', currencyCode: 'lira' },
        cardHolderInfo: 'nobody',
        returnUrl: 'ftp://nowhere',
      });
      expect(status).toBe(400);
      for (const path of [
        'cardDetails.cardNo',
        'cardDetails.expDate',
        'cardDetails.cvv',
        'transactionDetails.amount',
        'transactionDetails.currencyCode',
        'cardHolderInfo',
        'returnUrl',
      ]) {
        expect(text).toContain(path);
      }
      expect(text).not.toMatch(/4508034508034581|1350|secret|149\.9055|lira|nobody|nowhere/);
    },
  );

  it('refuses unknown fields and what is no object', async () => {
    await start(STRICT);
    const { messages } = await post('direct', {
      ...sampleInput(),
      sign: 'x',
      cardDetails: { ...CARD, pin: '1' },
      transactionDetails: [],
    });
    expect(messages).toEqual(
      expect.arrayContaining([
        'property sign should not exist',
        'cardDetails.property pin should not exist',
        'transactionDetails must be an object',
      ]),
    );
  });

  it('checks Luhn and the expiry, and can leave either out', async () => {
    const body = { ...sampleInput(), cardDetails: { ...CARD, cardNo: NON_LUHN, expDate: '0120' } };
    const about = ({ messages }: { messages: string[] }) =>
      messages.map((message) => /mistyped|past/.exec(message)?.[0]);
    await start(STRICT);
    expect(about(await post('direct', body)).sort()).toEqual(['mistyped', 'past']);
    await app.close();
    await start({ ...STRICT, always: true, groups: [CARD_CHECKS.expiry] });
    expect(about(await post('direct', body))).toEqual(['past']);
    expect((await post('direct', { ...body, cardDetails: { ...CARD, cardNo: '1' } })).status).toBe(400);
    await app.close();
    await start({ ...STRICT, always: true, groups: [CARD_CHECKS.luhn] });
    expect(about(await post('direct', body))).toEqual(['mistyped']);
  });
});
