import { Body, Controller, Post, UseFilters } from '@nestjs/common';
import { type DoPaymentDto, type Payment, PaymentExceptionFilter, PaymentService } from 'nestjs-card-payment';
import { loggerInto } from '../operations/log-lines.js';
import { DECLINES } from '../gateway/public-codes.js';
import { sample } from '../rigs/extent.js';
import { sale, useMerchant } from './merchant.js';

const MESSAGE = 'Kayip veya calinti kart';
/** In the short tests some: what each code means is in test/gateway/readings/verdicts.spec.ts. */
const CODES = [...sample(5, DECLINES), 'RVV0001'];

@Controller('with-filter')
@UseFilters(PaymentExceptionFilter)
class FilteredController {
  constructor(private readonly payments: PaymentService) {}

  @Post()
  async start(@Body() input: DoPaymentDto): Promise<string> {
    return (await this.payments.init3d(input)).html;
  }
}

@Controller('without-filter')
class PlainController {
  constructor(private readonly payments: PaymentService) {}

  @Post()
  async start(@Body() input: DoPaymentDto): Promise<string> {
    return (await this.payments.init3d(input)).html;
  }
}

describe('a card tester at a shop', () => {
  const lines: string[] = [];
  const shop = useMerchant({
    metadata: { controllers: [FilteredController, PlainController] },
    options: { failureUrl: undefined, successUrl: undefined, pendingUrl: undefined },
    application: { logger: loggerInto(lines) },
  });

  /** Everything in which two answers to declines could differ, without the ids of the payments. */
  async function answerOf(response: Response): Promise<string> {
    const headers = [...response.headers].filter(([name]) => !['date', 'etag', 'content-length'].includes(name));
    const body = (await response.text()).replace(/"conversationId":"\w+"/, '"conversationId":"…"');
    return JSON.stringify([response.status, headers, body]);
  }

  function post(url: string, body: unknown): Promise<Response> {
    const headers = { 'content-type': 'application/json' };
    return fetch(url, { method: 'POST', headers, body: JSON.stringify(body), redirect: 'manual' });
  }

  function declineNext(operation: 'Init3d' | 'Auth3d', code: string): void {
    const body = JSON.stringify({ code, message: MESSAGE });
    shop.simulator.fail({
      operation,
      kind: 'reply',
      status: 200,
      headers: { 'content-type': 'application/json' },
      body,
    });
  }

  it.each(['with-filter', 'without-filter'])('gets the same answer for every declined start, %s', async (route) => {
    const answers = new Set<string>();
    for (const code of CODES) {
      const input = sale();
      declineNext('Init3d', code);
      const response = await post(`${shop.url}/${route}`, input);
      expect(response.status).toBe(402);
      answers.add(await answerOf(response));
      const [payment] = await shop.payments.findByReference(input.reference!);
      expect(payment).toMatchObject({ state: 'failed', reason: 'declined', code });
    }
    expect([...answers]).toHaveLength(1);
    expect([...answers][0]).not.toContain(MESSAGE);
  });

  it('gets the same answer for every payment that Auth3d declined', async () => {
    const answers = new Set<string>();
    for (const code of CODES) {
      const { payment, html } = await shop.payments.init3d(sale());
      const callback = shop.simulator.approve(html);
      declineNext('Auth3d', code);
      answers.add(await answerOf(await post(callback.url, callback.fields)));
      const ended: Payment | null = await shop.payments.find(payment.conversationId);
      expect(ended).toMatchObject({ state: 'failed', reason: 'declined', code });
    }
    expect([...answers]).toHaveLength(1);
  });

  it('does not see the code, which is in the log for those who run the shop', () => {
    const isLogged = (code: string) => lines.some((line) => line.includes(`: failed (declined, ${code}) after`));
    expect(CODES.filter((code) => !isLogged(code))).toEqual([]);
  });
});
