import { createHash } from 'node:crypto';
import { morposDialect } from '../../../lib/gateway/dialects/morpos.dialect.js';
import { ReplyFields } from '../../../lib/gateway/readings/reply-fields.js';
import { CREDENTIALS, sampleSale } from '../sample-sale.js';

const NOW = new Date('2026-03-01T21:05:07.089Z');
const API_KEY = 'api-key-1';
const dialect = morposDialect();

/** SHA-256, Base64, upper-cased. */
function signOver(text: string): string {
  const bytes = createHash('sha256').update(Buffer.from(text, 'utf8')).digest();
  return bytes.toString('base64').toUpperCase();
}

function signOf(over: Parameters<typeof sampleSale>[0], operation: 'doPayment' | 'init3d' = 'doPayment') {
  const body = dialect.operations[operation].body(sampleSale(over), 'M-1');
  return dialect.sign(body, { operation, apiKey: API_KEY });
}

describe('the headers of MorPOS', () => {
  it('carry the secret hashed with the timestamp', () => {
    const headers = dialect.headers({ credentials: CREDENTIALS, operation: 'doPayment', now: NOW });
    // c2VjcmV0LWJ5dGVz is Base64 of "secret-bytes".
    const hash = createHash('sha256').update('secret-bytes20260301210507', 'latin1').digest();
    const hex = [...hash].map((byte) => byte.toString(16).padStart(2, '0')).join('');
    expect(headers).toEqual({
      'x-ClientID': 'client-1',
      'x-ClientSecret': Buffer.from(hex, 'latin1').toString('base64'),
      'x-GrantType': 'client_credentials',
      'x-Scope': 'pf_write',
      'x-Timestamp': '20260301210507',
    });
    expect(headers['x-ClientSecret']).toBe(
      'ODQwMGZmNjY2YjVhOWRhNThjYjllODUyNmU2MTRiZDE5ZTJlYjljOTA1NTQ5NTM0NDdlYzRiODA1ZWY0MTUzZg==',
    );
  });

  it('hash a secret of bytes that are no text', () => {
    const secret = Buffer.from([0, 255, 128, 10]);
    const { 'x-ClientSecret': sent } = dialect.headers({
      credentials: { ...CREDENTIALS, clientSecret: secret.toString('base64') },
      operation: 'init3d',
      now: NOW,
    });
    const hash = createHash('sha256')
      .update(Buffer.concat([secret, Buffer.from('20260301210507')]))
      .digest('hex');
    expect(Buffer.from(sent!, 'base64').toString()).toBe(hash);
  });

  it.each([
    [0, '20260301210507'],
    [3, '20260302000507'],
    [-10, '20260301110507'],
    [5.5, '20260302023507'],
  ])('give the time %d hours east of UTC', (timestampOffsetHours, timestamp) => {
    const there = morposDialect({ timestampOffsetHours });
    expect(there.headers({ credentials: CREDENTIALS, operation: 'auth3d', now: NOW })['x-Timestamp']).toBe(timestamp);
  });
});

describe('the sign of MorPOS', () => {
  const PLAIN =
    'ABC00000000000000001;M-1;https://shop.example/payments/direct/return;https://shop.example/payments/direct/fail;' +
    'CARDPAYMENT;tr;CARD;SALE;False;1;60.00;949;;api-key-1';

  it.each(['doPayment', 'init3d'] as const)("of %s is made over the hosted page's order", async (operation) => {
    expect(await signOf({}, operation)).toBe(signOver(PLAIN));
    expect(await signOf({}, operation)).toBe('78ZCQHUORL5RTIUDP0XO/B48FRRPIMAI7MO1C6W0WXK=');
  });

  it('is made over UTF-8', async () => {
    const returnUrl = 'https://shop.example/ödeme';
    expect(await signOf({ returnUrl })).toBe(
      signOver(PLAIN.replace('https://shop.example/payments/direct/return', returnUrl)),
    );
  });

  it('leaves the place of what is no single value empty', async () => {
    const signOrder = {
      doPayment: ['cardDetails', 'merchantId.length', 'no.such.field', 'flag', 'flag.deep', 'amount'],
    };
    const body = { merchantId: 'M-1', cardDetails: { cvv: '000' }, flag: null, amount: 60 };
    const context = { operation: 'doPayment', apiKey: API_KEY } as const;
    expect(await morposDialect({ signOrder }).sign(body, context)).toBe(signOver(';;;;;60;api-key-1'));
  });

  it('is put into Auth3d only where its order is given', async () => {
    const context = { operation: 'auth3d', apiKey: API_KEY } as const;
    expect(await dialect.sign({ code: 'x' }, context)).toBeNull();
    const signing = morposDialect({ signOrder: { auth3d: ['code'] } });
    expect(await signing.sign({ code: 'x' }, context)).toBe(signOver('x;api-key-1'));
  });

  it('leaves the place of a key that is not configured empty', async () => {
    const body = { merchantId: 'M-1', conversationId: 'ABC1' };
    expect(await dialect.sign(body, { operation: 'checkPayment', apiKey: null })).toBe(signOver('ABC1;M-1;'));
  });
});

describe('the sign of an answer', () => {
  const answer = (sign: string, amount = '60.00'): ReplyFields =>
    ReplyFields.parse(
      `{"code":"B0000","conversationId":"ABC1","orderId":"o-1","paymentId":"p-1","bankUniqueReferenceNumber":"503615446559",` +
        `"transactionDate":"05/02/2025 15:09:09","currency":"949","authCode":"004512","paymentInstrumentType":"CARDPAYMENT",` +
        `"instrumentDetail":{"maskedCardNumber":"450803******4509","cardType":"CARD"},` +
        `"paymentInfo":{"installmentCount":1,"payFacCommissionRate":1.5000,"amount":${amount},"payFacCommissionAmount":0.9000},` +
        `"sign":"${sign}"}`,
    )!;
  const GOOD = signOver(
    'ABC1;o-1;p-1;503615446559;05/02/2025 15:09:09;949;004512;CARDPAYMENT;450803******4509;CARD;1;60.00;0.9000;1.5000;api-key-1',
  );
  const isGood = (fields: ReplyFields, apiKey: string | null = API_KEY): boolean =>
    dialect.verifySign!(fields, { apiKey });

  it('is made over the values as they were written', () => {
    expect(isGood(answer(GOOD))).toBe(true);
  });

  it('is bad over other values, with another key, in another case, or missing', () => {
    expect(isGood(answer(GOOD, '60.0'))).toBe(false);
    expect(isGood(answer(GOOD, '61.00'))).toBe(false);
    expect(isGood(answer(GOOD), 'api-key-2')).toBe(false);
    expect(isGood(answer(GOOD), null)).toBe(false);
    expect(isGood(answer(GOOD.toLowerCase()))).toBe(false);
    expect(isGood(answer(''))).toBe(false);
    expect(isGood(ReplyFields.parse('{}')!)).toBe(false);
  });

  it('leaves the place of what the answer does not hold, or holds as no single value, empty', () => {
    const other = morposDialect({ answerSignOrder: ['orderId', 'paymentInfo', 'orderId.x', 'no.such', 'currency'] });
    expect(other.verifySign!(answer(signOver('o-1;;;;949;api-key-1')), { apiKey: API_KEY })).toBe(true);
  });

  it('can be given another order', () => {
    const other = morposDialect({ answerSignOrder: ['orderId', 'paymentInfo.amount'] });
    expect(other.verifySign!(answer(signOver('o-1;60.00;api-key-1')), { apiKey: API_KEY })).toBe(true);
  });
});

describe('what the bank must send', () => {
  it('is the conversationId alone', () => {
    expect(dialect.requiredCallbackFields).toEqual(['conversationId']);
    expect(dialect.callbackIdField).toBe('conversationId');
    expect(dialect.callbackObjectFields).toEqual(['InstrumentDetail']);
  });
});

describe('where MorPOS is asked, and what for', () => {
  it('finds the page under the name that it is given', () => {
    const page = Buffer.from('<form action="https://acs.example">').toString('base64');
    const fields = ReplyFields.parse(JSON.stringify({ code: 'B0000', a: page, b: page }))!;
    expect(dialect.operations.init3d.read(fields).content).toBeNull();
    expect(morposDialect({ contentField: 'b' }).operations.init3d.read(fields).content).toBe(page);
  });
});

describe('the answer to a CheckPayment', () => {
  const read = (body: object) => dialect.operations.checkPayment!.read(ReplyFields.parse(JSON.stringify(body))!);

  it('shows a second code that differs before one that does not', () => {
    expect(read({ responseCode: 'B0000', code: 'B0000', resultCode: 'B0051' }).resultCode).toBe('B0051');
    expect(read({ responseCode: 'B0000', code: 'B0051', resultCode: 'B0000' }).resultCode).toBe('B0051');
    expect(read({ responseCode: 'B0000', code: 'B0000' }).resultCode).toBe('B0000');
  });

  it('names what it holds and nobody can read', () => {
    expect(read({ responseCode: 'B0000', code: true, transactionType: ['SALE'] }).unreadable).toEqual([
      'resultCode',
      'transactionType',
    ]);
    expect(read({ responseCode: 'B0000', conversationId: [] }).unreadable).toEqual(['conversationId']);
    expect(read({ responseCode: 'B0000', resultCode: {} }).unreadable).toEqual(['resultCode']);
    expect(read({ responseCode: 'B0000', transactionStatus: { status: 'SUCCESS' } }).isSuccessful).toBe(false);
  });
});
