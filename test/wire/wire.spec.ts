import 'reflect-metadata';
import type { IncomingMessage } from 'node:http';
import type { HttpService } from '@nestjs/axios';
import type { INestApplicationContext } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  type DoPaymentDto,
  type HostedPaymentDto,
  morposDialect,
  PAYMENT_HTTP,
  PaymentClock,
  PaymentModule,
  type PaymentOptions,
  PaymentService,
} from 'nestjs-card-payment';
import { TestClock } from 'nestjs-card-payment/testing';
import { Randomness } from '../../lib/runtime/randomness.js';
import { answeringGateway } from '../rigs/answering-gateway.js';
import { ExpectedTexts } from '../rigs/expected-texts.js';

const TEXTS = new ExpectedTexts(import.meta.url);

/** Three hours later it is the first of February. */
const NOW = new Date('2026-01-31T22:30:05.123Z');
const SALE_ID = 'SALE0000000000000001';
const REFUND_ID = 'REFUND00000000000001';
/** What is paid or given back under this id has no clear outcome. */
const UNCLEAR_ID = 'UNCLEAR0000000000001';
const PAGE = '<!DOCTYPE html><html><body><form action="https://bank.example"></form></body></html>';

type Act = (payments: PaymentService, app: INestApplicationContext) => Promise<unknown>;

/** What is done before the requests are looked at, what is then done, and the options that matter. */
interface Case {
  readonly before?: Act;
  readonly act: Act;
  readonly options?: PaymentOptions;
}
type Cases = Readonly<Record<string, Case>>;

/** A request as it came over the socket, but for the port of the gateway. */
interface RecordedRequest {
  readonly line: string;
  readonly headers: readonly string[];
  readonly body: string;
}

interface Played {
  readonly requests: readonly RecordedRequest[];
  readonly thrown: readonly string[];
}

/** All bytes are alike, so that it does not matter in which order they are drawn. */
class FixedRandomness extends Randomness {
  bytes(count: number): Buffer {
    return Buffer.alloc(count, 7);
  }

  fraction(): number {
    return 0.5;
  }
}

/** What the signer got. */
const signed: string[] = [];

const ACCOUNTS: Readonly<Record<'standard' | 'morpos', PaymentOptions>> = {
  standard: {
    dialect: 'standard',
    signer: (fields, context) => {
      signed.push(`signer: ${JSON.stringify(context)} ${JSON.stringify(fields)}`);
      return `sign of ${context.operation}`;
    },
  },
  morpos: { dialect: 'morpos', apiKey: 'API-KEY' },
};

function hosted(more: Partial<HostedPaymentDto> = {}, transaction: object = {}): HostedPaymentDto {
  return {
    conversationId: SALE_ID,
    ...more,
    transactionDetails: { amount: '149.90', currencyCode: 949, ...transaction },
  };
}

/** With a published test card. */
function sale(more: Partial<DoPaymentDto> = {}, transaction: object = {}): DoPaymentDto {
  return {
    conversationId: SALE_ID,
    cardDetails: { cardNo: '4508034508034509', expDate: '1236', cvv: '000' },
    cardHolderInfo: { cardHolderName: 'ADA YILMAZ', buyerGsm: '905551112233' },
    ...more,
    transactionDetails: { amount: '149.90', currencyCode: 949, ...transaction },
  };
}

const EVERYTHING = {
  language: 'en',
  paymentInstrumentType: 'WALLET',
  extraParameter: { pfSubMerchantId: 'SUB-1' },
  returnUrl: 'https://shop.example/done?order=1&step=2',
  failUrl: 'https://shop.example/failed',
};
const WHOLE_TRANSACTION = { transactionType: 'SALE', installmentCount: 3, vftFlag: true };

const SHORTEST: PaymentOptions = { amountFormat: 'shortest' };
const TRANSACTIONS: readonly (readonly [title: string, transaction: object, options?: PaymentOptions])[] = [
  ['a number as amount', { amount: 60 }],
  ['leading zeros', { amount: '007.1' }],
  ['less than one', { amount: 0.5 }],
  ['fifteen digits', { amount: '1234567890123.45' }],
  ['no decimals', { amount: '1500', currencyCode: 392 }],
  ['three decimals, and a currency code below 100', { amount: '0.125', currencyCode: 48 }],
  ['three decimals, of which one is given', { amount: '1.5', currencyCode: 414 }],
  ['a currency code below 10', { amount: '10', currencyCode: 8 }],
  ['one instalment, and the flag is false', { installmentCount: 1, vftFlag: false }],
  ['shortest, without decimals', { amount: '60.00' }, SHORTEST],
  ['shortest, with decimals', { amount: '60.50' }, SHORTEST],
  ['shortest, three decimals', { amount: '1.250', currencyCode: 414 }, SHORTEST],
];
const BUYERS: Readonly<Record<string, Partial<DoPaymentDto>>> = {
  'Turkish letters': { cardHolderInfo: { cardHolderName: 'Şükrü İğdır Çöğüşçı', buyerGsm: '+90 (555) 111-22-33' } },
  'characters that JSON escapes': { cardHolderInfo: { cardHolderName: 'O"NEIL \\ 😀', buyerGsm: '5551112233' } },
  'a card as people type it': { cardDetails: { cardNo: '5246 7763 5690 3508', expDate: '12 / 2036', cvv: '792' } },
};
/** They change the headers and texts of every operation. */
const OPTIONS: Readonly<Record<string, PaymentOptions>> = {
  'scope, grant type and language': { scope: 'pf_read', grantType: 'password', language: 'en' },
  'connections that are used once': { keepAliveMs: 0 },
};

type Begin<Input> = (input: Input) => Act;
const doPayment: Begin<DoPaymentDto> = (input) => (payments) => payments.doPayment(input);
const init3d: Begin<DoPaymentDto> = (input) => (payments) => payments.init3d(input);
const hostedPage: Begin<HostedPaymentDto> = (input) => (payments) => payments.startHosted(input);
const embeddedForm: Begin<HostedPaymentDto> = (input) => hostedPage({ ...input, form: 'embedded' });

const withOptions = (act: Act, before?: Act): Cases =>
  Object.fromEntries(Object.entries(OPTIONS).map(([title, options]) => [title, { act, before, options }]));

const withTransactions = (act: Begin<object>): Cases =>
  Object.fromEntries(TRANSACTIONS.map(([title, transaction, options]) => [title, { act: act(transaction), options }]));

const salesOf = (act: Begin<DoPaymentDto>): Cases => ({
  'what must be given': { act: act(sale()) },
  everything: { act: act(sale({ ...EVERYTHING, paymentMethod: 'LINK' }, WHOLE_TRANSACTION)) },
  ...withTransactions((transaction) => act(sale({}, transaction))),
  ...Object.fromEntries(Object.entries(BUYERS).map(([title, buyer]) => [title, { act: act(sale(buyer)) }])),
  ...withOptions(act(sale())),
});

const hostedOf = (act: Begin<HostedPaymentDto>): Cases => ({
  'what must be given': { act: act(hosted()) },
  everything: { act: act(hosted(EVERYTHING, WHOLE_TRANSACTION)) },
  ...withTransactions((transaction) => act(hosted({}, transaction))),
  ...withOptions(act(hosted())),
});

/** What the bank sends, and how it may write the one field that is an object. */
const FIELDS = { conversationId: SALE_ID, orderId: 'ORDER-1', mdStatus: '1', message: 'Onaylandı' };
const CALLBACKS: Readonly<Record<string, object>> = {
  texts: FIELDS,
  'values of other types': { ...FIELDS, amount: 149.9, isApproved: true, error: null, empty: '' },
  'members after a dot': { ...FIELDS, 'InstrumentDetail.CardType': 'CREDIT', 'InstrumentDetail.Bin': '450803' },
  'members in brackets': { 'InstrumentDetail[CardType]': 'CREDIT', ...FIELDS },
  'an object as JSON': { ...FIELDS, InstrumentDetail: '{"CardType":"CREDIT","Bin":"450803"}' },
  'an object': { ...FIELDS, InstrumentDetail: { CardType: 'CREDIT', Bin: '450803' } },
};
const complete: Begin<object> = (fields) => (payments) =>
  payments.auth3d({ conversationId: SALE_ID, fields: fields as typeof FIELDS });
const atTheBank = init3d(sale());
const completions: Cases = {
  ...Object.fromEntries(
    Object.entries(CALLBACKS).map(([title, fields]) => [title, { before: atTheBank, act: complete(fields) }]),
  ),
  ...withOptions(complete(FIELDS), atTheBank),
};

const direct = doPayment(sale());
const dear = doPayment(sale({}, { amount: '2.500', currencyCode: 48 }));
const refund =
  (amount?: string | number): Act =>
  (payments) =>
    payments.refund({ conversationId: SALE_ID, refundId: REFUND_ID, amount });
const callOff: Act = (payments) => payments.void({ conversationId: SALE_ID, refundId: REFUND_ID });
const unclear = doPayment(sale({ conversationId: UNCLEAR_ID }));
const inquire: Act = (payments) => payments.inquire(UNCLEAR_ID);

const refunds: Cases = {
  'all of it': { before: direct, act: refund() },
  'a part': { before: direct, act: refund('49.9') },
  'a number as amount': { before: direct, act: refund(49) },
  'three decimals, and a currency code below 100': { before: dear, act: refund('1.25') },
  shortest: { before: direct, act: refund('49.00'), options: SHORTEST },
  ...withOptions(refund(), direct),
};
const voids: Cases = {
  'all of it': { before: direct, act: callOff },
  'a currency code below 100': { before: dear, act: callOff },
  ...withOptions(callOff, direct),
};
const inquiries: Cases = {
  'a payment': { before: unclear, act: inquire },
  'a refund': {
    before: async (payments) => {
      await payments.doPayment(sale());
      await payments.refund({ conversationId: SALE_ID, refundId: UNCLEAR_ID });
    },
    act: (payments) => payments.inquireRefund(UNCLEAR_ID),
  },
  'a page that is given up': {
    before: hostedPage(hosted()),
    act: (payments) => payments.abandon(SALE_ID),
  },
  ...withOptions(inquire, unclear),
};

/** The module makes the id of a question about a card. */
const FIXED_ID: PaymentOptions = { dialect: { ...morposDialect(), newConversationId: () => SALE_ID } };
const checkBin = (bin: string, amount?: string, currencyCode = 949): Case => ({
  act: (payments) => payments.checkBin(bin, amount === undefined ? undefined : { amount, currencyCode }),
  options: FIXED_ID,
});
const questions: Cases = {
  'six digits': checkBin('450803'),
  'eight digits, and an amount': checkBin('45080345', '149.9'),
  'three decimals, and a currency code below 100': checkBin('450803', '0.125', 48),
  'in English': { ...checkBin('450803'), options: { ...FIXED_ID, language: 'en' } },
};

/** What holds for requests of every kind. */
const requests: Cases = {
  'a base address with a path': { act: direct, options: { baseUrl: '/pos/' } },
  'addresses of the shop': {
    act: init3d(sale()),
    options: { returnUrl: 'https://shop.example/back/{token}', failUrl: 'https://shop.example/no?t={token}' },
  },
  'the address of the callback': { act: init3d(sale()), options: { callbackUrl: 'https://proxy.example/in' } },
  "an interceptor of the host's": {
    act: (payments, app) => {
      app.get<HttpService>(PAYMENT_HTTP).axiosRef.interceptors.request.use((config) => {
        config.headers.set({ 'x-trace': 'TRACE-1', 'x-scope': 'all' });
        return config;
      });
      return payments.doPayment(sale());
    },
  },
};
const morposOptions: Cases = {
  'a clock three hours ahead of UTC': {
    act: direct,
    options: { dialect: morposDialect({ timestampOffsetHours: 3 }) },
  },
  'an order of the sign': {
    act: direct,
    options: {
      dialect: morposDialect({ signOrder: { doPayment: ['transactionDetails.amount', 'merchantId', 'nowhere'] } }),
    },
  },
};

const FILES: Readonly<Record<string, Cases>> = {
  'standard-doPayment': salesOf(doPayment),
  'standard-settings': requests,
  'standard-init3d': salesOf(init3d),
  'standard-auth3d': completions,
  'morpos-doPayment': salesOf(doPayment),
  'morpos-settings': { ...requests, ...morposOptions },
  'morpos-init3d': salesOf(init3d),
  'morpos-auth3d': completions,
  'morpos-checkPayment': inquiries,
  'morpos-checkBin': questions,
  'morpos-refund': refunds,
  'morpos-void': voids,
  'morpos-hostedPage': hostedOf(hostedPage),
  'morpos-embeddedForm': hostedOf(embeddedForm),
};

/** A merchant's application, whose clock stands still. */
async function openShop(options: PaymentOptions): Promise<INestApplicationContext> {
  const payment = PaymentModule.forRoot({
    merchantId: 'MERCHANT-1',
    clientId: 'CLIENT-1',
    clientSecret: 'c2VjcmV0IG9mIGEgdGVzdA==',
    publicUrl: 'https://shop.example',
    background: false,
    timeoutMs: 5_000,
    ...options,
  });
  const app = await Test.createTestingModule({ imports: [payment] })
    .overrideProvider(PaymentClock)
    .useValue(new TestClock(NOW))
    .overrideProvider(Randomness)
    .useClass(FixedRandomness)
    .compile();
  app.useLogger(false);
  return app.init();
}

/** A gateway that keeps what it is sent, and approves it. */
async function recordingGateway() {
  const requests: RecordedRequest[] = [];
  // An approval of Auth3d is believed only if it names the amount.
  let amount: unknown;
  const { url, close } = await answeringGateway(({ operation, body, text }, response) => {
    requests.push(recorded(response.req, text));
    const { conversationId, transactionDetails = {} } = body;
    amount = (transactionDetails as { readonly amount?: unknown }).amount ?? amount;
    const code = conversationId === UNCLEAR_ID ? 'B0096' : 'B0000';
    const result = { conversationId, orderId: 'ORDER-1', paymentId: 'PAYMENT-1', paymentInfo: { amount } };
    const answers: Readonly<Record<string, object>> = {
      Init3d: { code, ...result, htmlForm: Buffer.from(PAGE).toString('base64') },
      CheckPayment: { responseCode: code, responseDescription: 'Approved', ...result },
      HostedPaymentRedirect: { code, conversationId, returnUrl: 'https://page.example/1' },
      CreatePaymentForm: { code, conversationId, paymentFormContent: PAGE },
    };
    response.end(JSON.stringify(answers[operation] ?? { code, ...result }));
  });
  return { url, close, requests };
}

function recorded({ method, url, rawHeaders }: IncomingMessage, body: string): RecordedRequest {
  const headers = rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${rawHeaders[at + 1]}`] : []));
  const withoutPort = headers.map((header) => header.replace(/(127\.0\.0\.1):\d+$/, '$1'));
  return { line: `${method} ${url}`, headers: withoutPort, body };
}

/** What a gateway is sent in one case, and what is thrown, which is nothing unless there is a flaw. */
async function play(account: PaymentOptions, { before, act, options = {} }: Case): Promise<Played> {
  const { url, close, requests } = await recordingGateway();
  const baseUrl = url + (options.baseUrl ?? '');
  try {
    const app = await openShop({ ...account, ...options, baseUrl });
    const payments = app.get(PaymentService);
    await before?.(payments, app);
    requests.splice(0);
    signed.splice(0);
    await act(payments, app);
    await app.close();
    return { requests, thrown: [] };
  } catch (error) {
    return { requests, thrown: [String(error)] };
  } finally {
    await close();
  }
}

/** Each member of a body is on a line of its own. Headers that are those of the request before are not repeated. */
async function textOf(account: PaymentOptions, cases: Cases): Promise<string> {
  const lines: string[] = [];
  let last = '';
  for (const [title, one] of Object.entries(cases)) {
    lines.push(`## ${title}`);
    const { requests, thrown } = await play(account, one);
    for (const { line, headers, body } of requests) {
      const length = `content-length: ${Buffer.byteLength(body)}`;
      expect(headers).toContain(length);
      const others = headers.filter((header) => header !== length).join('\n');
      lines.push(line, others === last ? '(the same headers)' : others, body.replaceAll(',"', ',\n "'));
      last = others;
    }
    lines.push(...signed.splice(0), ...thrown, '');
  }
  return lines.join('\n');
}

describe('what a gateway is sent', () => {
  it.each(Object.entries(FILES))('is as in %s.txt', async (file, cases) => {
    const account = ACCOUNTS[file.startsWith('standard') ? 'standard' : 'morpos'];
    TEXTS.expect(`${file}.txt`, await textOf(account, cases));
  });

  it('is compared with every file', () => {
    TEXTS.expectNoOthers(Object.keys(FILES).map((file) => `${file}.txt`));
  });
});
