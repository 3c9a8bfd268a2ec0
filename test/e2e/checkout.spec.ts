import { Body, Controller, Inject, Post, ValidationPipe, type ValidationPipeOptions } from '@nestjs/common';
import { CheckoutDto, type Payment, PaymentService } from 'nestjs-card-payment';
import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { type Merchant, type Platform, PLATFORMS, startMerchant } from './merchant.js';

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
  let simulator: Simulator;
  let merchant: Merchant | undefined;

  beforeEach(async () => {
    simulator = await startSimulator({ dialect: 'morpos' });
  });
  afterEach(async () => {
    await merchant?.app.close();
    await simulator.close();
  });

  async function pay(pipe: ValidationPipeOptions, body: object): Promise<{ status: number; answer: unknown }> {
    merchant = await startMerchant(platform, simulator, {
      metadata: { controllers: [CheckoutController] },
      configure: (app) => app.useGlobalPipes(new ValidationPipe(pipe)),
    });
    const response = await fetch(`${merchant.url}/pay`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: response.status, answer: await response.json() };
  }

  it.each<ValidationPipeOptions>([{ transform: true, whitelist: true }, { whitelist: true }, {}])(
    'sends digits and MMyy, however they were typed (%j)',
    async (pipe) => {
      const { answer } = await pay(pipe, TYPED);
      expect(answer).toMatchObject({ state: 'succeeded', maskedCardNumber: '450803******4509' });
      expect(simulator.ledger.charges).toMatchObject([{ amount: '149.90', installmentCount: 1 }]);
      expect(simulator.ledger.violations).toEqual([]);
      expect(simulator.requests[0]?.text).toContain('"cardNo":"4508034508034509"');
      expect(simulator.requests[0]?.text).toContain('"expDate":"1236"');
    },
  );

  it('charges the order’s own amount once, whatever the buyer posts beside the card', async () => {
    const forged = {
      transactionDetails: { amount: '0.01', currencyCode: 949 },
      allowRepeat: true,
      returnUrl: 'https://evil.example',
      reference: 'order-2',
    };
    const { answer } = await pay({ whitelist: true }, { ...TYPED, ...forged });
    const repeated = await fetch(`${merchant?.url}/pay`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...TYPED, ...forged }),
    });
    expect(answer).toMatchObject({ state: 'succeeded', reference: 'order-1', amount: '149.90' });
    expect(await repeated.json()).toMatchObject({ state: 'failed', reason: 'reference_taken' });
    expect(simulator.ledger.charges.map(({ amount }) => amount)).toEqual(['149.90']);
    expect(simulator.requests.map(({ text }) => text).join()).not.toContain('evil');
  });
});
