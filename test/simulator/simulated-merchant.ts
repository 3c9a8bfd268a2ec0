import { createHash } from 'node:crypto';
import type { Simulator, SimulatorOperation } from '../../lib/simulator/index.js';
import { until } from '../services/until.js';

type Fields = Readonly<Record<string, unknown>>;

/** What is asked of the gateway; each operation sends the fields that it has. */
export interface Asked {
  readonly conversationId?: string;
  /** Written into the JSON text digit for digit. */
  readonly amount?: string;
  readonly currency?: string;
  readonly language?: string;
  /** By default 1 of a sale, and 0 of a page of the gateway's. */
  readonly installmentCount?: number;
  readonly vftFlag?: boolean;
  /** The sub-merchant, if `extraParameter` is sent. */
  readonly subMerchant?: string;
  readonly urls?: { readonly returnUrl: string; readonly failUrl: string };
  /** The digits that CheckBin asks about. */
  readonly bin?: string;
  /** Of the payment that is given back. */
  readonly orderId?: string;
  readonly paymentId?: string;
  /** Merged into the body after it was signed; null takes a field out. */
  readonly change?: Fields;
}

const PATHS: Readonly<Record<SimulatorOperation, string>> = {
  DoPayment: '/v1/Payment/DoPayment',
  Init3d: '/v1/Payment/Init3d',
  Auth3d: '/v1/Payment/Auth3d',
  CheckPayment: '/v1/Payment/CheckPayment',
  CheckBin: '/v1/BinList/CheckBin',
  refund: '/v1/Payment/DoPayment',
  void: '/v1/Payment/DoPayment',
  hostedPage: '/v1/HostedPayment/HostedPaymentRedirect',
  embeddedForm: '/v1/EmbeddedPayment/CreatePaymentForm',
};

const METHODS: Readonly<Partial<Record<SimulatorOperation, string>>> = {
  hostedPage: 'HOSTEDPAYMENT',
  embeddedForm: 'EMBEDDEDPAYMENT',
};

export const CARD = { cardNo: '5246776356903508', expDate: '1230', cvv: '792' };
/** Passes Luhn, and is no test card. */
export const OTHER_CARD = '4000000000000002';

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

  headers(operation: SimulatorOperation = 'DoPayment'): Record<string, string> {
    const { credentials, dialect } = this.simulator;
    const iso = this.now().toISOString();
    const timestamp = dialect === 'standard' ? iso : iso.replace(/\D/g, '').slice(0, 14);
    const hash = createHash('sha256').update(Buffer.from(credentials.clientSecret, 'base64')).update(timestamp);
    const hashed = Buffer.from(hash.digest('hex')).toString('base64');
    const scope = dialect === 'standard' ? 'pf_write' : 'pf_write pf_read';
    return {
      'content-type': 'application/json',
      'x-ClientID': credentials.clientId,
      'x-ClientSecret': dialect === 'standard' ? credentials.clientSecret : hashed,
      'x-GrantType': 'client_credentials',
      'x-Scope': METHODS[operation] ? 'payment' : scope,
      'x-Timestamp': timestamp,
    };
  }

  send(operation: SimulatorOperation, asked: Asked = {}, headers = this.headers(operation)): Promise<Response> {
    return this.post(operation, this.text(operation, asked), headers);
  }

  /** What the gateway answers. */
  async ask(operation: SimulatorOperation, asked: Asked = {}): Promise<Record<string, unknown>> {
    return fieldsOf(this.send(operation, asked));
  }

  /** Asks what the gateway never answers, and gives up once the request has arrived. */
  async askInVain(operation: SimulatorOperation, asked: Asked & { readonly conversationId: string }): Promise<void> {
    const client = new AbortController();
    const [headers, body] = [this.headers(operation), this.text(operation, asked)];
    const init = { method: 'POST', headers, body, signal: client.signal };
    const answer = fetch(this.simulator.url + PATHS[operation], init);
    await until(() => this.simulator.ledger.calls(operation, asked.conversationId) > 0);
    client.abort();
    await expect(answer).rejects.toThrow();
  }

  auth3d(fields: Fields): Promise<Response> {
    return this.post('Auth3d', JSON.stringify(fields));
  }

  post(operation: SimulatorOperation, body: string, headers = this.headers(operation)): Promise<Response> {
    const url = this.simulator.url + PATHS[operation];
    return fetch(url, { method: 'POST', headers, body, redirect: 'manual' });
  }

  text(operation: SimulatorOperation, { change = {}, ...asked }: Asked = {}): string {
    const { conversationId = newConversationId(), amount = '60.00', ...rest } = asked;
    const [fields, signed] = this.body(operation, { ...rest, conversationId, amount });
    const { merchantId, apiKey } = this.simulator.credentials;
    const sign = this.sign([conversationId, merchantId, ...signed, apiKey]);
    return JSON.stringify(merged({ merchantId, conversationId, sign, ...fields }, change)).replace('"AMOUNT"', amount);
  }

  sign(values: readonly string[]): string {
    return createHash('sha256').update(values.join(';')).digest('base64').toUpperCase();
  }

  /** The fields besides the ids and the sign, and the values that are signed with them. */
  private body(operation: SimulatorOperation, asked: Asked & { readonly amount: string }): [Fields, string[]] {
    const { amount, currency = '949', language = 'tr', subMerchant, vftFlag, bin = '402940' } = asked;
    const { orderId = 'ORD000000001', paymentId = '7000000001', urls = URLS } = asked;
    const back = (type: string, order: string, given: string) => [language, order, paymentId, type, currency, given];
    if (operation === 'CheckPayment') return [{}, []];
    if (operation === 'CheckBin') return [{ language, bin }, [language, bin]];
    if (operation === 'refund') {
      const details = { transactionType: 'REFUND', currencyCode: currency, amount: 'AMOUNT' };
      return [{ language, orderId, paymentId, transactionDetails: details }, back('REFUND', orderId, amount)];
    }
    if (operation === 'void') {
      const details = { transactionType: 'VOID', currency };
      return [{ language, paymentId, transactionDetails: details }, back('VOID', '', '')];
    }
    const { [operation]: pageMethod } = METHODS;
    const paymentMethod = pageMethod ?? 'CARDPAYMENT';
    const { installmentCount = pageMethod ? 0 : 1 } = asked;
    const details = { transactionType: 'SALE', installmentCount, vftFlag };
    const fields = { ...urls, paymentMethod, language, paymentInstrumentType: 'CARD' };
    const signed = [urls.returnUrl, urls.failUrl, paymentMethod, language, 'CARD', 'SALE', vftFlag ? 'True' : 'False'];
    const values = [...signed, String(installmentCount), amount, currency, subMerchant ?? ''];
    if (pageMethod) {
      const extra = subMerchant !== undefined && { extraParameter: { pFSubMerchantId: subMerchant } };
      return [{ ...fields, transactionDetails: { ...details, amount, currencyCode: currency }, ...extra }, values];
    }
    const transactionDetails = { ...details, amount: 'AMOUNT', currencyCode: Number(currency) };
    const cardHolderInfo = { cardHolderName: 'ADA YILMAZ', buyerGsm: '905551112233' };
    return [{ ...fields, cardDetails: CARD, transactionDetails, cardHolderInfo }, values];
  }
}

const URLS = { returnUrl: 'https://shop.example/return', failUrl: 'https://shop.example/fail' };

/** What a JSON answer says. */
export async function fieldsOf(response: Response | Promise<Response>): Promise<Record<string, unknown>> {
  return (await (await response).json()) as Record<string, unknown>;
}

function merged(body: Fields, change: Fields): Fields {
  const result: Record<string, unknown> = { ...body };
  for (const [name, value] of Object.entries(change)) {
    const nested = typeof value === 'object' && value !== null && !Array.isArray(value);
    if (value === null) delete result[name];
    else result[name] = nested ? merged((result[name] ?? {}) as Fields, value as Fields) : value;
  }
  return result;
}
