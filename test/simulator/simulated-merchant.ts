import { createHash } from 'node:crypto';
import type { HostedOperation, Simulator, SimulatorOperation } from '../../lib/simulator/index.js';

/** A sale as docs/interface.md has it; the amount is written into the JSON text digit for digit. */
export interface TestSale {
  conversationId?: string;
  amount?: string;
  urls?: { returnUrl?: string; failUrl?: string };
  /** Puts the merged fields in place of the usual ones; null takes a field out. */
  change?: Record<string, unknown>;
}

/** A refund or void of a payment, by the ids that the gateway gave it; a void has no orderId and no amount. */
export interface TestRefund {
  conversationId?: string;
  orderId?: string;
  paymentId?: string;
  amount?: string;
  currency?: string;
  change?: TestSale['change'];
}

/** A request for the gateway's own page or its embedded form, signed as it is sent unless `change` has a `sign`. */
export interface TestPage extends TestSale {
  language?: string;
  installmentCount?: number;
  currency?: string;
  /** The sub-merchant, if `extraParameter` is sent. */
  subMerchant?: string;
  vftFlag?: boolean;
}

export const HOSTED_PATHS: Readonly<Record<HostedOperation, string>> = {
  hostedPage: '/v1/HostedPayment/HostedPaymentRedirect',
  embeddedForm: '/v1/EmbeddedPayment/CreatePaymentForm',
};

export const CARD = { cardNo: '5246776356903508', expDate: '1230', cvv: '792' };

let count = 0;

export function newConversationId(): string {
  count += 1;
  return `ABC${String(count).padStart(17, '0')}`;
}

/** A merchant that speaks the wire by hand, so that nothing is shared with the client under test elsewhere. */
export class SimulatedMerchant {
  constructor(
    private readonly simulator: Simulator,
    private readonly now: () => Date = () => new Date(),
  ) {}

  headers(): Record<string, string> {
    const { credentials, dialect } = this.simulator;
    const iso = this.now().toISOString();
    const timestamp = dialect === 'standard' ? iso : iso.replace(/\D/g, '').slice(0, 14);
    const hash = createHash('sha256').update(Buffer.from(credentials.clientSecret, 'base64')).update(timestamp);
    const hashed = Buffer.from(hash.digest('hex')).toString('base64');
    return {
      'content-type': 'application/json',
      'x-ClientID': credentials.clientId,
      'x-ClientSecret': dialect === 'standard' ? credentials.clientSecret : hashed,
      'x-GrantType': 'client_credentials',
      'x-Scope': dialect === 'standard' ? 'pf_write' : 'pf_write pf_read',
      'x-Timestamp': timestamp,
    };
  }

  saleText({ conversationId = newConversationId(), amount = '60.00', urls = {}, change = {} }: TestSale = {}): string {
    const { merchantId, apiKey } = this.simulator.credentials;
    const { returnUrl = 'https://shop.example/return', failUrl = 'https://shop.example/fail' } = urls;
    const signed = [conversationId, merchantId, returnUrl, failUrl, 'CARDPAYMENT', 'tr', 'CARD', 'SALE', 'False', '1'];
    const body = {
      merchantId,
      returnUrl,
      failUrl,
      paymentMethod: 'CARDPAYMENT',
      language: 'tr',
      conversationId,
      sign: this.sign([...signed, amount, '949', '', apiKey]),
      paymentInstrumentType: 'CARD',
      cardDetails: CARD,
      transactionDetails: { transactionType: 'SALE', installmentCount: 1, amount: 'AMOUNT', currencyCode: 949 },
      cardHolderInfo: { cardHolderName: 'ADA YILMAZ', buyerGsm: '905551112233' },
    };
    return JSON.stringify(merged(body, change)).replace('"AMOUNT"', amount);
  }

  doPayment(sale: TestSale = {}): Promise<Response> {
    return this.post('DoPayment', this.saleText(sale));
  }

  init3d(sale: TestSale = {}): Promise<Response> {
    return this.post('Init3d', this.saleText(sale));
  }

  refund(refund: TestRefund = {}, headers = this.headers()): Promise<Response> {
    return this.post('DoPayment', this.refundText(refund), headers);
  }

  void(refund: TestRefund = {}, headers = this.headers()): Promise<Response> {
    return this.post('DoPayment', this.voidText(refund), headers);
  }

  refundText(refund: TestRefund = {}): string {
    const { orderId = 'ORD000000001', amount = '60.00', currency = '949', change = {} } = refund;
    const { paymentId, ...common } = this.refundStart(refund);
    const sign = this.refundSign([common.conversationId, orderId, paymentId, 'REFUND', currency, amount]);
    const transactionDetails = { transactionType: 'REFUND', currencyCode: currency, amount: 'AMOUNT' };
    const body = { ...common, sign, orderId, paymentId, transactionDetails };
    return JSON.stringify(merged(body, change)).replace('"AMOUNT"', amount);
  }

  voidText(refund: TestRefund = {}): string {
    const { currency = '949', change = {} } = refund;
    const { paymentId, ...common } = this.refundStart(refund);
    const sign = this.refundSign([common.conversationId, '', paymentId, 'VOID', currency, '']);
    const transactionDetails = { transactionType: 'VOID', currency };
    return JSON.stringify(merged({ ...common, paymentId, sign, transactionDetails }, change));
  }

  private refundStart({ conversationId = newConversationId(), paymentId = '7000000001' }: TestRefund) {
    return { merchantId: this.simulator.credentials.merchantId, language: 'tr', conversationId, paymentId };
  }

  private refundSign([conversationId = '', ...values]: string[]): string {
    const { merchantId, apiKey } = this.simulator.credentials;
    return this.sign([conversationId, merchantId, 'tr', ...values, apiKey]);
  }

  openPage(operation: HostedOperation, page: TestPage = {}, headers = this.pageHeaders()): Promise<Response> {
    const body = this.pageText(operation, page);
    return fetch(this.simulator.url + HOSTED_PATHS[operation], { method: 'POST', headers, body });
  }

  pageHeaders(): Record<string, string> {
    return { ...this.headers(), 'x-Scope': 'payment' };
  }

  pageText(operation: HostedOperation, page: TestPage = {}): string {
    const { merchantId, apiKey } = this.simulator.credentials;
    const { conversationId = newConversationId(), amount = '60.00', currency = '949', language = 'tr' } = page;
    const { returnUrl = 'https://shop.example/return', failUrl = 'https://shop.example/fail' } = page.urls ?? {};
    const { installmentCount = 0, subMerchant, vftFlag } = page;
    const paymentMethod = operation === 'hostedPage' ? 'HOSTEDPAYMENT' : 'EMBEDDEDPAYMENT';
    const start = [conversationId, merchantId, returnUrl, failUrl, paymentMethod, language, 'CARD', 'SALE'];
    const rest = [vftFlag ? 'True' : 'False', String(installmentCount), amount, currency, subMerchant ?? '', apiKey];
    const body = {
      merchantId,
      returnUrl,
      failUrl,
      paymentMethod,
      paymentInstrumentType: 'CARD',
      language,
      conversationId,
      sign: this.sign([...start, ...rest]),
      transactionDetails: { transactionType: 'SALE', installmentCount, amount, currencyCode: currency, vftFlag },
      ...(subMerchant !== undefined && { extraParameter: { pFSubMerchantId: subMerchant } }),
    };
    return JSON.stringify(merged(body, page.change ?? {}));
  }

  auth3d(fields: Record<string, unknown>): Promise<Response> {
    return this.post('Auth3d', JSON.stringify(fields));
  }

  checkPayment(conversationId: string): Promise<Response> {
    const { merchantId, apiKey } = this.simulator.credentials;
    const sign = this.sign([conversationId, merchantId, apiKey]);
    return this.post('CheckPayment', JSON.stringify({ merchantId, conversationId, sign }));
  }

  checkBin(change: Readonly<Record<string, unknown>> = {}, headers = this.headers()): Promise<Response> {
    const { merchantId, apiKey } = this.simulator.credentials;
    const asked = { bin: '402940', language: 'tr', conversationId: newConversationId(), merchantId };
    const sign = this.sign([asked.conversationId, merchantId, asked.language, asked.bin, apiKey]);
    const body = JSON.stringify({ ...asked, sign, ...change });
    return fetch(`${this.simulator.url}/v1/BinList/CheckBin`, { method: 'POST', headers, body });
  }

  post(operation: SimulatorOperation, body: string, headers = this.headers()): Promise<Response> {
    const url = `${this.simulator.url}/v1/Payment/${operation}`;
    return fetch(url, { method: 'POST', headers, body, redirect: 'manual' });
  }

  sign(values: string[]): string {
    return createHash('sha256').update(values.join(';')).digest('base64').toUpperCase();
  }
}

/** What a JSON answer says. */
export async function fieldsOf(response: Response | Promise<Response>): Promise<Record<string, unknown>> {
  return (await (await response).json()) as Record<string, unknown>;
}

function merged(body: Record<string, unknown>, change: Record<string, unknown>): Record<string, unknown> {
  const result = { ...body };
  for (const [name, value] of Object.entries(change)) {
    const nested = typeof value === 'object' && value !== null && !Array.isArray(value);
    if (value === null) delete result[name];
    else if (nested)
      result[name] = merged((result[name] ?? {}) as Record<string, unknown>, value as Record<string, unknown>);
    else result[name] = value;
  }
  return result;
}
