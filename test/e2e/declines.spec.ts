import { Body, Controller, Post, UseFilters } from '@nestjs/common';
import { type DoPaymentDto, PaymentExceptionFilter, PaymentService } from 'nestjs-card-payment';
import { loggerInto } from '../operations/log-lines.js';
import { DECLINES } from '../gateway/public-codes.js';
import { sample } from '../rigs/extent.js';
import { sale, useMerchant } from './merchant.js';

const MESSAGE = 'Kayip veya calinti kart';
/** In the short tests some: what each code means is in test/gateway/readings/verdicts.spec.ts. */
const CODES = [...sample(5, DECLINES), 'RVV0001'];

@Controller()
class ShopController {
  constructor(private readonly payments: PaymentService) {}

  @Post('with-filter')
  @UseFilters(PaymentExceptionFilter)
  filtered(@Body() input: DoPaymentDto): Promise<string> {
    return this.plain(input);
  }

  @Post('without-filter')
  async plain(@Body() input: DoPaymentDto): Promise<string> {
    return (await this.payments.init3d(input)).html;
  }
}

describe('a card tester at a shop', () => {
  const lines: string[] = [];
  const shop = useMerchant({
    metadata: { controllers: [ShopController] },
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

  /** Everything that is answered to a payment which is declined with each of the codes. */
  async function answersTo(operation: 'Init3d' | 'Auth3d', send: (reference: string) => Promise<Response>) {
    const answers = new Set<string>();
    for (const code of CODES) {
      const { reference = '' } = sale();
      const body = JSON.stringify({ code, message: MESSAGE });
      shop.simulator.fail({ operation, kind: 'reply', status: 200, body });
      answers.add(await answerOf(await send(reference)));
      const [payment] = await shop.payments.findByReference(reference);
      expect(payment).toMatchObject({ state: 'failed', reason: 'declined', code });
    }
    return [...answers];
  }

  it.each(['with-filter', 'without-filter'])('gets the same answer for every declined start, %s', async (route) => {
    const answers = await answersTo('Init3d', (reference) =>
      post(`${shop.url}/${route}`, sale('149.90', { reference })),
    );
    expect(answers).toEqual([expect.stringMatching(/^\[402,/)]);
    expect(answers[0]).not.toContain(MESSAGE);
  });

  it('gets the same answer for every payment that Auth3d declined', async () => {
    const answers = await answersTo('Auth3d', async (reference) => {
      const { html } = await shop.payments.init3d(sale('149.90', { reference }));
      const { url, fields } = shop.simulator.approve(html);
      return post(url, fields);
    });
    expect(answers).toHaveLength(1);
  });

  it('does not see the code, which is in the log for those who run the shop', () => {
    const isLogged = (code: string) => lines.some((line) => line.includes(`: failed (declined, ${code}) after`));
    expect(CODES.filter((code) => !isLogged(code))).toEqual([]);
  });
});
