import { randomBytes, randomUUID } from 'node:crypto';
import { bankPageForm } from './buyer-pages.js';
import { isJsonObject, type JsonObject, type JsonValue, replyDate } from './wire-values.js';
import { codeText, MAGIC_PASSWORDS } from './magic.js';
import type { GatewayRequest } from './requests.js';
import type { SimulatorSettings } from './simulator-options.js';

const PASSWORD_TRIES = 3;
/** The fields that the bank sends to the merchant, and that Auth3d must bring back. */
export interface CallbackContent {
  readonly [field: string]: string | { readonly [field: string]: string };
}

/** A callback of the bank, ready to be sent. */
export interface BankCallback {
  readonly url: string;
  /** The form's fields, with names such as `InstrumentDetail.MaskedCardNumber`. */
  readonly fields: Readonly<Record<string, string>>;
  /** How often the bank sends it: once, unless the 3D password says otherwise. */
  readonly copies: 0 | 1 | 2;
  readonly late: boolean;
  /** The callback as an HTTP request, for `fetch(callback.request.url, callback.request)`. */
  readonly request: {
    readonly url: string;
    readonly method: 'POST';
    readonly headers: Record<string, string>;
    readonly body: string;
  };
}

/** One buyer at the bank. */
export interface BankSession {
  readonly id: string;
  readonly sale: GatewayRequest;
  readonly orderId: string;
  readonly paymentId: string;
  triesLeft: number;
  result: BankResult | null;
}

/** The outcome of the verification. */
export interface BankResult {
  readonly verified: boolean;
  readonly code: string;
  readonly content: CallbackContent;
  readonly callback: BankCallback;
}

/** The buyer's bank: the buyers at its page, and what they answered. */
export class Bank {
  private readonly byId = new Map<string, BankSession>();
  private readonly byConversation = new Map<string, BankSession>();

  constructor(private readonly settings: SimulatorSettings) {}

  /** Makes a session; buyers can enter it once it is opened. */
  prepare(sale: GatewayRequest, ids: { orderId: string; paymentId: string }): BankSession {
    return { id: randomUUID(), sale, ...ids, triesLeft: PASSWORD_TRIES, result: null };
  }

  open(session: BankSession): void {
    this.byId.set(session.id, session);
    this.byConversation.set(session.sale.conversationId, session);
  }

  /** The page of Init3d's reply: Base64 of UTF-8 HTML that sends the browser to the bank. */
  page(session: BankSession): string {
    const action = `${this.settings.publicUrl}/acs/${session.id}`;
    return Buffer.from(bankPageForm(action, session.sale.language)).toString('base64');
  }

  session(id: string): BankSession | undefined {
    return this.byId.get(id);
  }

  sessionOf(conversationId: JsonValue | undefined): BankSession | undefined {
    return typeof conversationId === 'string' ? this.byConversation.get(conversationId) : undefined;
  }

  /**
   * Acts as the buyer, without a browser. The bank decides once: later answers get the callback of the first.
   *
   * @param conversationIdOrPage a conversationId, or Init3d's page as Base64 or HTML
   * @param answer a code of {@link MAGIC_PASSWORDS}, or `cancel`; any other code, such as `wrong`, is entered until no
   *   tries are left
   * @throws Error when the bank has no such payment
   */
  answer(conversationIdOrPage: string, answer: { readonly code: string }): BankCallback {
    const session = this.sessionOf(conversationIdOrPage) ?? this.sessionOnPage(conversationIdOrPage);
    if (!session) throw new Error('The simulated bank has no such payment');
    if (answer.code === 'cancel') return this.cancel(session).callback;
    let result = this.enter(session, answer.code);
    while (!result) result = this.enter(session, answer.code);
    return result.callback;
  }

  /** The buyer types a code. @returns null while another try is left */
  enter(session: BankSession, code: string): BankResult | null {
    if (session.result) return session.result;
    const password = MAGIC_PASSWORDS.find((row) => row.code === code);
    if (password) return this.finish(session, password.verified ? 'B0000' : 'B0055', password);
    session.triesLeft -= 1;
    return session.triesLeft > 0 ? null : this.finish(session, 'B0055', FAILED);
  }

  cancel(session: BankSession): BankResult {
    return session.result ?? this.finish(session, 'B0017', FAILED);
  }

  reset(): void {
    this.byId.clear();
    this.byConversation.clear();
  }

  private finish(session: BankSession, code: string, { to, copies, late }: CallbackWay): BankResult {
    const content = this.content(session, code);
    const fields = formFields(content);
    const url = session.sale[to];
    const callback = { url, fields, copies, late, request: formRequest(url, fields) };
    session.result = { verified: code === 'B0000', code, content, callback };
    return session.result;
  }

  /** The names come from the service's public documentation and plugins; the interface does not show them. */
  private content(session: BankSession, code: string): CallbackContent {
    const { sale, orderId, paymentId } = session;
    const verified = code === 'B0000';
    return {
      Code: code,
      Message: codeText(code, sale.language),
      EftCode: verified ? '00' : code.slice(-2),
      MdStatus: randomBytes(24).toString('base64'),
      MdStatusMessage: verified ? '' : 'Not authenticated',
      conversationId: sale.conversationId,
      OrderId: orderId,
      PaymentId: paymentId,
      TransactionDate: replyDate(this.settings.clock()),
      Currency: String(sale.currencyCode),
      PaymentInstrumentType: 'CARDPAYMENT',
      MerchantId: this.settings.credentials.merchantId,
      InstrumentDetail: { MaskedCardNumber: sale.maskedCardNumber, CardType: 'CARD' },
    };
  }

  private sessionOnPage(page: string): BankSession | undefined {
    const html = page.includes('/acs/') ? page : Buffer.from(page, 'base64').toString();
    const id = /\/acs\/([0-9a-f-]{36})/.exec(html)?.[1];
    return id === undefined ? undefined : this.byId.get(id);
  }
}

/** Whether an Auth3d body is exactly what the bank sent, with `InstrumentDetail` in any of its notations. */
export function bringsBack(content: CallbackContent, body: JsonObject): boolean {
  return canonical(callbackContent(body)) === canonical(content);
}

type CallbackWay = Pick<BankCallback, 'copies' | 'late'> & { readonly to: 'returnUrl' | 'failUrl' };

const FAILED: CallbackWay = { to: 'failUrl', copies: 1, late: false };

function formFields(content: CallbackContent): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const [name, value] of Object.entries(content)) {
    if (typeof value === 'string') fields[name] = value;
    else for (const [member, text] of Object.entries(value)) fields[`${name}.${member}`] = text;
  }
  return fields;
}

/** A form that the browser posts: the interface does not show how the bank sends its result. */
export function formRequest(url: string, fields: Readonly<Record<string, string>>): BankCallback['request'] {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  return { url, method: 'POST', headers, body: new URLSearchParams(fields).toString() };
}

function callbackContent(body: JsonObject): JsonObject {
  const result: JsonObject = {};
  const detail: JsonObject = {};
  for (const [name, value] of Object.entries(body)) {
    const member = /^InstrumentDetail(?:\.(\w+)|\[(\w+)\])$/.exec(name);
    if (member) detail[(member[1] ?? member[2])!] = value;
    else if (name === 'InstrumentDetail') Object.assign(detail, detailOf(value));
    else result[name] = value;
  }
  return { InstrumentDetail: detail, ...result };
}

function detailOf(value: JsonObject[string]): JsonObject {
  if (isJsonObject(value)) return value;
  try {
    return JSON.parse(typeof value === 'string' ? value : '') as JsonObject;
  } catch {
    return {};
  }
}

function canonical(fields: JsonObject): string {
  const sorted = Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify(sorted.map(([name, value]) => [name, isJsonObject(value) ? canonical(value) : value]));
}
