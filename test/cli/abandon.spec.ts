import { Test, type TestingModule } from '@nestjs/testing';
import { type Payment, PaymentModule, PaymentService } from 'nestjs-card-payment';
import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { sale } from '../rigs/sale.js';
import { cli, cliHere } from './cli.js';
import { documentedShape, shapeOf } from './documented.js';
import { scratch } from './scratch.js';

describe("payments at the gateway's own page", () => {
  const { folder: cwd, file, remove } = scratch();
  let simulator: Simulator;
  let app: TestingModule;
  let payments: PaymentService;
  let env: Readonly<Record<string, string>>;
  let orders = 0;

  beforeAll(async () => {
    simulator = await startSimulator({ dialect: 'morpos' });
    const { credentials } = simulator;
    env = {
      PAYMENT_STORE_URL: `sqlite:${file('payments.sqlite')}`,
      PAYMENT_DIALECT: 'morpos',
      PAYMENT_BASE_URL: simulator.url,
      PAYMENT_MERCHANT_ID: credentials.merchantId,
      PAYMENT_CLIENT_ID: credentials.clientId,
      PAYMENT_CLIENT_SECRET: credentials.clientSecret,
      PAYMENT_API_KEY: credentials.apiKey,
    };
    app = await Test.createTestingModule({
      imports: [
        PaymentModule.forRoot({
          ...credentials,
          dialect: 'morpos',
          baseUrl: simulator.url,
          storeUrl: env.PAYMENT_STORE_URL,
          background: false,
          callback: false,
          returnUrl: 'https://shop.example/r',
          failUrl: 'https://shop.example/f',
        }),
      ],
    }).compile();
    app.useLogger(false);
    await app.init();
    payments = app.get(PaymentService);
  });
  afterAll(async () => {
    await app?.close();
    await simulator?.close();
    remove();
  });

  async function openPage(): Promise<{ id: string; redirectUrl: string }> {
    orders += 1;
    const { conversationId, redirectUrl } = await payments.startHosted({
      reference: `order-${orders}`,
      transactionDetails: { amount: '149.90', currencyCode: 949 },
    });
    return { id: conversationId, redirectUrl: redirectUrl! };
  }

  const said = (...words: string[]) => cliHere(['payments', ...words], { cwd, env });

  it('are given up as PaymentService.abandon does, once and again', async () => {
    const { id } = await openPage();
    const first = await cli(['payments', 'abandon', id], { cwd, env });
    expect(first).toEqual({ status: 0, stdout: `Payment ${id} is expired.\n`, stderr: '' });
    const { status, stdout } = await said('abandon', id, '--json');
    const answer = JSON.parse(stdout) as { payment: Payment };
    expect(shapeOf(answer)).toEqual(documentedShape('payments abandon'));
    expect(answer.payment).toMatchObject({ kind: 'hosted', state: 'expired', reason: 'abandoned', settled: true });
    expect(status).toBe(0);
    expect(await payments.find(id)).toMatchObject({ state: 'expired', reason: 'abandoned' });
  });

  it('are not given up once they are paid', async () => {
    const { id } = await openPage();
    simulator.payAtPage(id, { callback: 'none' });
    const { status, stdout } = await said('abandon', id);
    expect([status, stdout]).toEqual([1, `Payment ${id} was not given up: it is succeeded.\n`]);
  });

  it('are not given up while the gateway does not answer', async () => {
    const { id } = await openPage();
    simulator.fail({ operation: 'CheckPayment', kind: 'status', status: 503 });
    const { status, stdout } = await said('abandon', id);
    expect(status).toBe(1);
    expect(stdout).toMatch(
      new RegExp(`^Payment ${id} is still pending: the gateway gave no clear answer, or none\\. `),
    );
    expect(await payments.find(id)).toMatchObject({ state: 'pending' });
  });

  it.each([
    ['baseUrl', { PAYMENT_BASE_URL: 'https://sandbox.example' }],
    ['merchantId', { PAYMENT_MERCHANT_ID: 'another' }],
  ])('are neither given up nor asked about with the variables of another %s', async (_name, variables) => {
    const { id } = await openPage();
    const asked = simulator.requests.length;
    const elsewhere = (...words: string[]) => cliHere(['payments', ...words], { cwd, env: { ...env, ...variables } });
    const host = new URL(simulator.url).host;
    for (const act of ['abandon', 'inquire']) {
      const { status, stderr } = await elsewhere(act, id);
      expect({ status, stderr }).toEqual({
        status: 1,
        stderr: expect.stringContaining(`made at the gateway ${host}, `),
      });
    }
    expect(simulator.requests).toHaveLength(asked);
    expect(await payments.find(id)).toMatchObject({ state: 'pending' });
    expect((await elsewhere('stats')).stdout).toMatch(new RegExp(`\\nMade at another gateway \\(${host}\\): \\d`));
    expect((await said('stats')).stdout).not.toContain('another gateway');
    const { stdout } = await cliHere(['payments', 'stats', '--json'], {
      cwd,
      env: { PAYMENT_STORE_URL: env.PAYMENT_STORE_URL! },
    });
    expect(JSON.parse(stdout)).toMatchObject({ otherGateway: null });
  });

  it('are inquired about: an open page has no outcome yet', async () => {
    const { id } = await openPage();
    const open = await said('inquire', id);
    expect([open.status, open.stdout]).toEqual([
      1,
      `Payment ${id} is still pending: the gateway did not say that it was paid.\n`,
    ]);
    simulator.payAtPage(id, { callback: 'none' });
    expect(await said('inquire', id)).toMatchObject({ status: 0, stdout: `Payment ${id} is succeeded.\n` });
  });

  it('are listed, shown and counted without the address of their page', async () => {
    const { id, redirectUrl } = await openPage();
    const secret = redirectUrl.slice(redirectUrl.lastIndexOf('/') + 1);
    const answers = [];
    // In order: once the page is given up, it is no longer listed as pending.
    for (const words of [['list', '--state', 'pending'], ['show', id], ['stats'], ['abandon', id]])
      for (const call of [words, [...words, '--json']]) answers.push(await said(...call));
    for (const { stdout, stderr } of answers) {
      expect(stderr).toBe('');
      expect(stdout).not.toContain(secret);
      expect(stdout).not.toContain('redirectUrl');
    }
    expect(answers[0]?.stdout).toMatch(
      / under way \(charging, authorizing\), \d at the gateway's own page \(pending\)\n/,
    );
    expect(answers[0]?.stdout).toContain(id);
    expect(answers[2]?.stdout).toMatch(/\n {2}kind +hosted\n/);
    expect(answers[4]?.stdout).toMatch(/\n {2}pending +\d/);
  });

  it('are the only ones that can be given up', async () => {
    const { conversationId: direct } = await payments.doPayment(sale());
    expect(await said('abandon', direct)).toMatchObject({
      status: 1,
      stdout: '',
      stderr: 'A direct payment that is succeeded cannot be abandoned.\n',
    });
    const { refundId } = await payments.refund({ conversationId: direct, amount: '1.00' });
    expect(await said('abandon', refundId)).toMatchObject({
      status: 1,
      stderr: 'A refund or void cannot be abandoned.\n',
    });
    expect((await said('abandon', 'NOBODY')).stderr).toContain('There is no payment or refund NOBODY');
  });

  it.each([
    [{ PAYMENT_DIALECT: 'standard' }, 'cannot ask whether'],
    [{ PAYMENT_BASE_URL: 'simulator:' }, 'PaymentService.abandon'],
  ])('need a gateway that can be asked: %j', async (more, message) => {
    const { status, stderr } = await cliHere(['payments', 'abandon', 'A'], { cwd, env: { ...env, ...more } });
    expect(stderr).toContain(message);
    expect(status).toBe(2);
  });
});
