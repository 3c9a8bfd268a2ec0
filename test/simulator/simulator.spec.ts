import { currentTestCards, describeSimulator, startSimulator, TEST_CARDS } from '../../lib/simulator/index.js';
import { OTHER_CARD, SimulatedMerchant } from './simulated-merchant.js';

it('describes itself in lines that can be pasted into .env', async () => {
  const simulator = await startSimulator({ dialect: 'morpos', credentials: { merchantId: '42' } });
  const text = describeSimulator(simulator);
  await simulator.close();
  const settings = [...text.matchAll(/^(PAYMENT_\w+)=(.*)$/gm)].map(([, name, value]) => [name, value] as const);
  const env: unknown = Object.fromEntries(settings);
  expect(env).toEqual({
    PAYMENT_BASE_URL: simulator.url,
    PAYMENT_DIALECT: 'morpos',
    PAYMENT_PUBLIC_URL: 'http://localhost:3000',
    PAYMENT_MERCHANT_ID: '42',
    PAYMENT_CLIENT_ID: simulator.credentials.clientId,
    PAYMENT_CLIENT_SECRET: simulator.credentials.clientSecret,
    PAYMENT_API_KEY: simulator.credentials.apiKey,
  });
  const refund = '.80  B0005  declined: do not honor';
  const sale = '.51  B0051  declined: insufficient funds';
  for (const part of ['5246776356903508  1230  792', sale, refund, '123456  verified']) expect(text).toContain(part);
});

it('shows no test card whose date passes within a month', async () => {
  const simulator = await startSimulator();
  await simulator.close();
  const inNovember = new Date('2026-11-30T20:59:59Z');
  const inDecember = new Date('2026-11-30T21:00:00Z');
  expect(currentTestCards(inNovember)).toEqual(TEST_CARDS);
  expect(currentTestCards(inDecember)).toEqual(TEST_CARDS.slice(0, 4));
  expect(describeSimulator(simulator, inNovember)).toContain('5413330057004112');
  expect(describeSimulator(simulator, inDecember)).not.toContain('5413330057004112');
  expect(currentTestCards(new Date('2099-01-01'))).toEqual([]);
});

it('remembers no more requests than it was told to', async () => {
  const simulator = await startSimulator({ requestLimit: 2 });
  const merchant = new SimulatedMerchant(simulator);
  for (const amount of ['1.00', '2.00', '3.00']) await merchant.send('DoPayment', { amount });
  expect(simulator.requests.map(({ text }) => /"amount":([\d.]+)/.exec(text)?.[1])).toEqual(['2.00', '3.00']);
  await simulator.close();
});

it('finds a page by its address, a form by its content, and brings back whoever enters a paid page again', async () => {
  const simulator = await startSimulator({ dialect: 'morpos' });
  const merchant = new SimulatedMerchant(simulator);
  const { conversationId, returnUrl } = await merchant.ask('hostedPage');
  const embedded = await merchant.ask('embeddedForm');
  const atBank = await merchant.ask('Init3d');
  expect(simulator.payAtPage(returnUrl as string).fields.ConversationId).toBe(conversationId);
  expect(simulator.payAtPage(embedded.paymentFormContent as string).fields.ConversationId).toBe(
    embedded.conversationId,
  );
  expect(simulator.approve(atBank.htmlForm as string).fields.conversationId).toBe(atBank.conversationId);
  for (const unknown of [atBank.htmlForm as string, `${simulator.url}/hosted/00000000-0000-0000-0000-000000000000`]) {
    expect(() => simulator.payAtPage(unknown)).toThrow('no such page');
  }
  const again = new URLSearchParams({ action: 'pay', cardNo: OTHER_CARD });
  for (const init of [{}, { method: 'POST', body: again }]) {
    const response = await fetch(returnUrl as string, init);
    expect([response.status, await response.text()]).toEqual([
      200,
      expect.stringContaining('action="https://shop.example/return"'),
    ]);
  }
  expect(simulator.ledger.charges).toHaveLength(2);
  await simulator.close();
});
