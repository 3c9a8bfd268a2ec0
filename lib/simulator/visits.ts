import { randomBytes, randomUUID } from 'node:crypto';
import type { Charge, Ledger } from './ledger.js';
import { fieldRules, type GatewayRequest, maskedCard } from './requests.js';
import type { SimulatorSettings } from './simulator-options.js';
import {
  type BankVerdict,
  codeText,
  currentTestCards,
  INSTALMENT_COUNTS,
  MAGIC_PASSWORDS,
  type MagicPassword,
  pageVerdict,
  TEST_CARDS,
} from './test-data.js';
import { isJsonObject, type JsonObject, referencePrefix, replyDate } from './wire-values.js';

/** The bank's pages have their sessions below this path. */
export const BANK_PATH = '/acs/';
/** The gateway's own pages have theirs below this one. */
export const PAGE_PATH = '/hosted/';
/** Where the vendor's embedded form posts to. */
export const FORM_PATH = '/v1/EmbeddedPayment/processPayment';

const PASSWORD_TRIES = 3;
/** The code of the vendor's plugins for a payment that was not made. */
const NOT_PAID = 'R0099';

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

/**
 * A callback of the gateway's own page.
 *
 * @experimental
 */
export interface HostedCallback extends BankCallback {
  /** Whether the buyer was charged. */
  readonly charged: boolean;
}

/**
 * How the buyer pays at the gateway's page.
 *
 * @experimental
 */
export interface PayAtPageOptions {
  /**
   * Default: the first of `TEST_CARDS` that has not expired. An expired one is declined with B0054, and any other card
   * with B0014.
   */
  readonly cardNo?: string;
  /** MMyy. Default: that of the test card. */
  readonly expDate?: string;
  /** Only where the merchant asked for 0, so that the buyer chooses: 1, 2, 3, 6, 9 or 12. Default 1. */
  readonly installmentCount?: number;
  /** `none`: the buyer closes the window, so that nothing is sent (`copies` is 0). Default `post`. */
  readonly callback?: 'post' | 'none';
}

export interface PaymentIds {
  readonly orderId: string;
  readonly paymentId: string;
}

/** A buyer at the bank, at the gateway's own page, or at its form in a page of the merchant. */
export interface Visit extends PaymentIds {
  readonly id: string;
  readonly request: GatewayRequest;
  /** When the gateway's page is said to end. */
  readonly endsAt: Date;
  /** How many more codes the bank takes. */
  triesLeft: number;
  /** What the bank found out: it decides once. */
  verification: Verification | null;
  /** The gateway closed its page. */
  isClosed: boolean;
  /** The try that charged the buyer at the gateway's page: there is none after it. */
  charged: PageTry | null;
}

interface Verification {
  readonly code: string;
  readonly content: CallbackContent;
  readonly callback: BankCallback;
}

/** The fields that the bank sends to the merchant, and that Auth3d must bring back. */
interface CallbackContent {
  readonly [field: string]: string | { readonly [field: string]: string };
}

/** A card as it was typed at the gateway's page, without spaces. */
export interface TypedCard {
  readonly cardNo: string;
  /** MMyy */
  readonly expDate: string;
  readonly cvv: string;
  readonly installmentCount: number;
}

/** What came of a card. */
export interface PageTry {
  readonly pace: BankVerdict['pace'];
  readonly callback: HostedCallback;
}

/** The numbers of instalments that the gateway's page takes: the merchant's, or the buyer's choice. */
function instalmentChoices({ request: { installmentCount } }: Visit): readonly number[] {
  return installmentCount === 0 ? INSTALMENT_COUNTS : [installmentCount];
}

export function isAtBank({ request }: Visit): boolean {
  return request.operation === 'Init3d';
}

/** Where a browser finds the page. */
export function addressOf(visit: Visit, { publicUrl }: SimulatorSettings): string {
  return publicUrl + (isAtBank(visit) ? BANK_PATH : PAGE_PATH) + visit.id;
}

/** The buyers at the pages of the bank and of the gateway. */
export class Visits {
  private readonly byId = new Map<string, Visit>();
  private readonly byConversation = new Map<string, Visit>();

  constructor(private readonly settings: SimulatorSettings) {}

  /** Makes a visit; the buyer can enter once it is opened. */
  prepare(request: GatewayRequest, { orderId, paymentId }: PaymentIds): Visit {
    const endsAt = new Date(this.settings.clock().getTime() + this.settings.hostedPageMs);
    const nothingYet = { triesLeft: PASSWORD_TRIES, verification: null, isClosed: false, charged: null };
    return { id: randomUUID(), request, orderId, paymentId, endsAt, ...nothingYet };
  }

  open(visit: Visit): void {
    this.byId.set(visit.id, visit);
    this.byConversation.set(visit.request.conversationId, visit);
  }

  of(conversationId: string): Visit | undefined {
    return this.byConversation.get(conversationId);
  }

  atBank(id: string): Visit | undefined {
    const visit = this.byId.get(id);
    return visit && isAtBank(visit) ? visit : undefined;
  }

  atGateway(id: string): Visit | undefined {
    const visit = this.byId.get(id);
    return visit && !isAtBank(visit) ? visit : undefined;
  }

  reset(): void {
    this.byId.clear();
    this.byConversation.clear();
  }
}

/** What buyers do at the bank. */
export class Bank {
  constructor(
    private readonly settings: SimulatorSettings,
    private readonly visits: Visits,
  ) {}

  /** The buyer types a code. @returns null while another try is left */
  typeCode(visit: Visit, code: string): Verification | null {
    if (visit.verification) return visit.verification;
    const password = MAGIC_PASSWORDS.find((row) => row.code === code);
    if (password) return this.verify(visit, password.verified ? 'B0000' : 'B0055', password);
    visit.triesLeft -= 1;
    return visit.triesLeft > 0 ? null : this.verify(visit, 'B0055');
  }

  cancel(visit: Visit): Verification {
    return visit.verification ?? this.verify(visit, 'B0017');
  }

  private verify(visit: Visit, code: string, { to, copies, late }: CallbackWay = FAILED): Verification {
    const content = this.callbackContent(visit, code);
    const fields = formFields(content);
    const url = visit.request[to];
    const callback = { url, fields, copies, late, request: formRequest(url, fields) };
    visit.verification = { code, content, callback };
    return visit.verification;
  }

  /** The names come from the service's public documentation and plugins; the interface does not show them. */
  private callbackContent({ request: sale, orderId, paymentId }: Visit, code: string): CallbackContent {
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

  /**
   * Acts as the buyer, without a browser. The bank decides once: later answers get the callback of the first.
   *
   * @param conversationIdOrPage a conversationId, or Init3d's page as Base64 or HTML
   * @param answer a code of {@link MAGIC_PASSWORDS}, or `cancel`; any other code, such as `wrong`, is entered until no
   *   tries are left
   * @throws Error when the bank has no such payment
   */
  answer(conversationIdOrPage: string, answer: { readonly code: string }): BankCallback {
    const named = this.visits.of(conversationIdOrPage);
    const visit = named && isAtBank(named) ? named : this.onPage(conversationIdOrPage);
    if (!visit) throw new Error('The simulated bank has no such payment');
    if (answer.code === 'cancel') return this.cancel(visit).callback;
    let verification = this.typeCode(visit, answer.code);
    while (!verification) verification = this.typeCode(visit, answer.code);
    return verification.callback;
  }

  private onPage(page: string): Visit | undefined {
    const html = page.includes(BANK_PATH) ? page : Buffer.from(page, 'base64').toString();
    const id = /\/acs\/([0-9a-f-]{36})/.exec(html)?.[1];
    return id === undefined ? undefined : this.visits.atBank(id);
  }
}

/** What buyers do at the gateway's own page. */
export class HostedPages {
  constructor(
    private readonly settings: SimulatorSettings,
    private readonly visits: Visits,
    private readonly ledger: Ledger,
  ) {}

  /** The fields that are not as the page wants them. */
  wrongFields(visit: Visit, card: TypedCard): (keyof TypedCard)[] {
    const { cardNo, expDate, cvv } = fieldRules(this.settings).cardDetails;
    const checks = {
      cardNo: cardNo(card.cardNo),
      expDate: expDate(card.expDate),
      cvv: cvv(card.cvv),
      installmentCount: instalmentChoices(visit).includes(card.installmentCount),
    };
    return (Object.keys(checks) as (keyof TypedCard)[]).filter((name) => !checks[name]);
  }

  /** Tries a card. Once a buyer was charged, later tries get the result of that one. */
  pay(visit: Visit, { cardNo, expDate, installmentCount }: TypedCard): PageTry {
    if (visit.charged) return visit.charged;
    const { request, orderId, paymentId } = visit;
    const { conversationId, amount, currencyCode } = request;
    const at = this.settings.clock();
    const { code, chargedAmount, pace, inquiry } = pageVerdict(cardNo, { amount, currencyCode, expDate }, at);
    const maskedCardNumber = maskedCard(cardNo);
    const details = { conversationId, orderId, paymentId, currencyCode, installmentCount, maskedCardNumber, at };
    const charge: Charge | null = chargedAmount === null ? null : { ...details, amount: chargedAmount, kind: 'hosted' };
    this.ledger.record({ conversationId, kind: 'sale', inquiry, orderId, paymentId, charge, refund: null });

    // A declined buyer goes back at once, and can open the page again: unverified.
    const isPaid = charge && code === 'B0000';
    const url = isPaid ? request.returnUrl : request.failUrl;
    const fields = isPaid ? paidFields(charge, code) : notPaidFields(request, code);
    const callback = hostedCallback(url, fields, { charged: charge !== null, copies: pace === 'never' ? 0 : 1 });
    const result = { pace, callback };
    if (charge) visit.charged = result;
    return result;
  }

  /** The buyer goes back without paying. The page stays open. */
  cancel({ request, charged }: Visit): HostedCallback {
    return charged?.callback ?? hostedCallback(request.failUrl, notPaidFields(request, 'B0017'));
  }

  /** @throws Error when there is no such page, or it can no longer be paid */
  payAtPage(conversationIdOrUrl: string, options: PayAtPageOptions = {}): HostedCallback {
    const visit = this.usablePage(conversationIdOrUrl);
    const [current = TEST_CARDS[0]!] = currentTestCards(this.settings.clock());
    const card = TEST_CARDS.find(({ cardNo }) => cardNo === options.cardNo) ?? current;
    const { cardNo = card.cardNo, expDate = card.expDate, callback: way = 'post' } = options;
    const installmentCount = options.installmentCount ?? (visit.request.installmentCount || 1);
    const typed = { cardNo, expDate, cvv: card.cvv, installmentCount };
    const wrong = this.wrongFields(visit, typed);
    if (wrong.length > 0) throw new Error(`The simulated page does not take this ${wrong.join(', ')}`);
    const { callback } = this.pay(visit, typed);
    return way === 'none' ? { ...callback, copies: 0 } : callback;
  }

  /** @throws Error when there is no such page, or it was closed */
  cancelAtPage(conversationIdOrUrl: string): HostedCallback {
    return this.cancel(this.usablePage(conversationIdOrUrl));
  }

  /** @throws Error when there is no such page */
  closePage(conversationIdOrUrl: string): void {
    this.pageOf(conversationIdOrUrl).isClosed = true;
  }

  private pageOf(conversationIdOrUrl: string): Visit {
    const named = this.visits.of(conversationIdOrUrl);
    const id = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/.exec(conversationIdOrUrl)?.[0] ?? '';
    const visit = named && !isAtBank(named) ? named : this.visits.atGateway(id);
    if (!visit) throw new Error('The simulated gateway has no such page');
    return visit;
  }

  private usablePage(conversationIdOrUrl: string): Visit {
    const visit = this.pageOf(conversationIdOrUrl);
    if (visit.isClosed && !visit.charged) throw new Error('The simulated page can no longer be paid');
    return visit;
  }
}

/** The names, and the text of `InstrumentDetail`, are those that the vendor's plugins receive; they want `Approved`. */
function paidFields(charge: Charge, code: string): Record<string, string> {
  const { conversationId, paymentId, amount, currencyCode, installmentCount, maskedCardNumber, at } = charge;
  return {
    ResultCode: code,
    Message: codeText(code, 'en'),
    ConversationId: conversationId,
    PaymentId: paymentId,
    BankUniqueReferenceNumber: referencePrefix(at) + paymentId.slice(-6),
    Amount: amount,
    Currency: String(currencyCode),
    InstallmentCount: String(installmentCount),
    MaskedCardNumber: maskedCardNumber,
    InstrumentDetail: '[object Object]',
  };
}

/** It names no payment, as the vendor's plugins receive it. */
function notPaidFields({ language }: GatewayRequest, code: string): Record<string, string> {
  return { Code: NOT_PAID, Message: codeText(code, language) };
}

function hostedCallback(
  url: string,
  fields: Record<string, string>,
  { charged = false, copies = 1 }: { readonly charged?: boolean; readonly copies?: 0 | 1 } = {},
): HostedCallback {
  return { url, fields, copies, late: false, request: formRequest(url, fields), charged };
}

type CallbackWay = Pick<MagicPassword, 'to' | 'copies' | 'late'>;

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
function formRequest(url: string, fields: Readonly<Record<string, string>>): BankCallback['request'] {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  return { url, method: 'POST', headers, body: new URLSearchParams(fields).toString() };
}

/** Whether an Auth3d body is exactly what the bank sent, with `InstrumentDetail` in any of its notations. */
export function matchesCallback(content: CallbackContent, body: JsonObject): boolean {
  return canonical(contentOf(body)) === canonical(content);
}

function contentOf(body: JsonObject): JsonObject {
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
