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

/** The id of a visit, in its address and its content. */
const SESSION = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;
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

/**
 * How long a page of the gateway's is said to be open: unverified. It can be paid until `closePage` is called, which is
 * the worst case for the merchant.
 */
const PAGE_OPEN_MS = 20 * 60 * 1000;

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
  /** Auth3d must bring back its fields. */
  readonly callback: BankCallback;
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
    const endsAt = new Date(this.settings.clock().getTime() + PAGE_OPEN_MS);
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

  withId(id: string): Visit | undefined {
    return this.byId.get(id);
  }

  /** By its conversationId, or by its page: the address, or the content as HTML or Base64. */
  find(conversationIdOrPage: string): Visit | undefined {
    const texts = [conversationIdOrPage, Buffer.from(conversationIdOrPage, 'base64').toString()];
    const [id = ''] = texts.flatMap((text) => SESSION.exec(text)?.[0] ?? []);
    return this.of(conversationIdOrPage) ?? this.withId(id);
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
    const callback = callbackTo(visit.request[to], this.callbackFields(visit, code), copies, late);
    visit.verification = { code, callback };
    return visit.verification;
  }

  /** The names come from the service's public documentation and plugins; the interface does not show them. */
  private callbackFields({ request: sale, orderId, paymentId }: Visit, code: string): Record<string, string> {
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
      'InstrumentDetail.MaskedCardNumber': sale.maskedCardNumber,
      'InstrumentDetail.CardType': 'CARD',
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
    const visit = this.visits.find(conversationIdOrPage);
    if (!visit || !isAtBank(visit)) throw new Error('The simulated bank has no such payment');
    if (answer.code === 'cancel') return this.cancel(visit).callback;
    let verification = this.typeCode(visit, answer.code);
    while (!verification) verification = this.typeCode(visit, answer.code);
    return verification.callback;
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
    const callback = { ...callbackTo(url, fields, pace === 'never' ? 0 : 1), charged: charge !== null };
    const result = { pace, callback };
    if (charge) visit.charged = result;
    return result;
  }

  /** The buyer goes back without paying. The page stays open. */
  cancel({ request, charged }: Visit): HostedCallback {
    return charged?.callback ?? { ...callbackTo(request.failUrl, notPaidFields(request, 'B0017')), charged: false };
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
    const visit = this.visits.find(conversationIdOrUrl);
    if (!visit || isAtBank(visit)) throw new Error('The simulated gateway has no such page');
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

type CallbackWay = Pick<MagicPassword, 'to' | 'copies' | 'late'>;

const FAILED: CallbackWay = { to: 'failUrl', copies: 1, late: false };

/** A form that the browser posts: the interface does not show how the bank sends its result. */
function callbackTo(
  url: string,
  fields: Readonly<Record<string, string>>,
  copies: BankCallback['copies'] = 1,
  late = false,
): BankCallback {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const request = { url, method: 'POST', headers, body: new URLSearchParams(fields).toString() } as const;
  return { url, fields, copies, late, request };
}

/** Whether an Auth3d body is exactly what the bank sent, with `InstrumentDetail` in any of its notations. */
export function matchesCallback({ fields }: BankCallback, body: JsonObject): boolean {
  return sortedText(dotted(body)) === sortedText(fields);
}

/** With each notation of `InstrumentDetail` as the bank sends it: `InstrumentDetail.CardType`. */
function dotted({ InstrumentDetail: detail, ...others }: JsonObject): JsonObject {
  const members = Object.entries(others).map(([name, value]) => {
    return [name.replace(/^InstrumentDetail\[(\w+)\]$/, 'InstrumentDetail.$1'), value] as const;
  });
  const nested = Object.entries(detailOf(detail)).map(([name, value]) => [`InstrumentDetail.${name}`, value] as const);
  return Object.fromEntries([...members, ...nested]);
}

function detailOf(value: JsonObject[string]): JsonObject {
  if (isJsonObject(value)) return value;
  try {
    return Object(JSON.parse(typeof value === 'string' ? value : '')) as JsonObject;
  } catch {
    return {};
  }
}

function sortedText(fields: JsonObject): string {
  return JSON.stringify(Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1)));
}
