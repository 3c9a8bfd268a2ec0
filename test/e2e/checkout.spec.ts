import { Body, Controller, Inject, Post, ValidationPipe, type ValidationPipeOptions } from '@nestjs/common';
import { CheckoutDto, type Payment, PaymentService } from 'nestjs-card-payment';
import type { Simulator } from 'nestjs-card-payment/simulator';
import { type Merchant, type Platform, PLATFORMS, useMerchants } from './merchant.js';

/** As the README has it. */
@Controller('pay')
class CheckoutController {
  constructor(@Inject(PaymentService) private readonly payments: PaymentService) {}

  @Post()
  pay(@Body() checkout: CheckoutDto): Promise<Payment> {
    return this.payments.doPayment({
      reference: 'order-1',
      cardDetails: checkout.cardDetails,
      cardHolderInfo: checkout.cardHolderInfo,
      transactionDetails: { amount: '149.90', currencyCode: 949, installmentCount: checkout.installmentCount },
    });
  }
}

const TYPED = {
  cardDetails: { cardNo: '4508-0345 0803 4509', expDate: '12 / 2036', cvv: '000' },
  cardHolderInfo: { cardHolderName: 'ADA YILMAZ', buyerGsm: '905551112233' },
};

describe.each(PLATFORMS)('a checkout on %s', (platform: Platform) => {
  const merchants = useMerchants();
  let simulator: Simulator;
  let merchant: Merchant;
  beforeEach(() => {
    ({ simulator } = merchants);
    simulator.reset();
  });

  async function post(pipe: ValidationPipeOptions, path: string, body: object): Promise<Response> {
    merchant = await merchants.start(platform, {
      metadata: { controllers: [CheckoutController] },
      configure: (app) => app.useGlobalPipes(new ValidationPipe(pipe)),
    });
    return fetch(`${merchant.url}/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  }

  it.each<ValidationPipeOptions>([{ transform: true, whitelist: true }, { transform: true }, {}])(
    'sends digits and MMyy, however they were typed (%j)',
    async (pipe) => {
      const answer: unknown = await (await post(pipe, 'pay', TYPED)).json();
      expect(answer).toMatchObject({ state: 'succeeded', maskedCardNumber: '450803******4509' });
      expect(simulator.ledger.charges).toMatchObject([{ amount: '149.90', installmentCount: 1 }]);
      expect(simulator.ledger.violations).toEqual([]);
      expect(simulator.requests[0]?.text).toContain('"cardNo":"4508034508034509"');
      expect(simulator.requests[0]?.text).toContain('"expDate":"1236"');
    },
  );

  it('sends nothing of the masked copy that a pipe hands on, and says how to change it', async () => {
    const answer = await post({ whitelist: true }, 'pay', TYPED);
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('`transform: true`')]);
    expect(simulator.requests).toEqual([]);
  });

  it('charges the order’s own amount once, whatever the buyer posts beside the card', async () => {
    const forged = {
      transactionDetails: { amount: '0.01', currencyCode: 949 },
      allowRepeat: true,
      returnUrl: 'https://evil.example',
      reference: 'order-2',
    };
    const pipe = { transform: true, whitelist: true };
    const answer: unknown = await (await post(pipe, 'pay', { ...TYPED, ...forged })).json();
    const repeated = await fetch(`${merchant.url}/pay`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...TYPED, ...forged }),
    });
    expect(answer).toMatchObject({ state: 'succeeded', reference: 'order-1', amount: '149.90' });
    expect(repeated.status).toBe(409);
    expect(simulator.ledger.charges.map(({ amount }) => amount)).toEqual(['149.90']);
    expect(simulator.requests.map(({ text }) => text).join()).not.toContain('evil');
  });
});
