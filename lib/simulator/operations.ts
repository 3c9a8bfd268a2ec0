import type { IncomingHttpHeaders } from 'node:http';
import { bringsBack } from './bank.js';
import { binFields, type BinQuestion } from './bins.js';
import { istanbulTime, JsonNumber, type JsonObject } from './wire-values.js';
import type { SimulatedDialect } from './dialects.js';
import type { Gateway, GatewayWork, OperationWork } from './gateway.js';
import type { HostedPage } from './hosted-pages.js';
import {
  checkFields,
  checkHeaders,
  fieldRules,
  type HostedRequest,
  isAmountText,
  isCurrencyText,
  matches,
  optional,
  readHosted,
  readJson,
  readSale,
  Refusal,
  REFUSAL_CODES,
  type Scope,
} from './requests.js';
import type { SimulatorOperation } from './ledger.js';
import { codeText } from './magic.js';
import { giveBack, readRefund, readVoid } from './refunds.js';
import type { SimulatorSettings } from './simulator-options.js';

interface OperationDefinition<Request> {
  readonly path: string;
  /**
   * The `transactionDetails.transactionType` that asks for it, where it shares its path with an operation that takes
   * all others.
   */
  readonly transactionType?: string;
  /** The simulator's own rule: inquiries need `pf_read`, the gateway's own page `payment`, all others `pf_write`. */
  readonly scope: Scope;
  /** Whether a second call for the same conversationId is a violation. */
  readonly movesMoney: boolean;
  /** Whether its body carries the merchant's `sign`. */
  readonly signed: boolean;
  /** @throws Refusal (400) */
  readonly read: (body: JsonObject, settings: SimulatorSettings) => Request;
  /** @throws Refusal (400) */
  readonly answer: (request: Request, gateway: Gateway) => OperationWork;
}

/** What the gateway can be asked to do: where, with which fields, and what it answers. */
export const OPERATIONS = {
  DoPayment: operation({
    path: '/v1/Payment/DoPayment',
    scope: 'pf_write',
    movesMoney: true,
    signed: true,
    read: readSale,
    answer(sale, gateway) {
      gateway.expectNew(sale);
      return gateway.settle(sale, 'direct', gateway.newIds());
    },
  }),

  Init3d: operation({
    path: '/v1/Payment/Init3d',
    scope: 'pf_write',
    movesMoney: false,
    signed: true,
    read: readSale,
    answer(sale, gateway) {
      gateway.expectNew(sale);
      const { bank } = gateway;
      const session = bank.prepare(sale, gateway.newIds());
      const fields = {
        ...gateway.codeFields('B0000', sale.language),
        conversationId: sale.conversationId,
        // Unverified: the interface shows no name.
        htmlForm: bank.page(session),
      };
      return { fields, commit: () => bank.open(session) };
    },
  }),

  Auth3d: operation({
    path: '/v1/Payment/Auth3d',
    scope: 'pf_write',
    movesMoney: true,
    signed: false,
    read: (body) => body,
    answer: completePayment,
  }),

  CheckPayment: operation({
    path: '/v1/Payment/CheckPayment',
    scope: 'pf_read',
    movesMoney: false,
    signed: true,
    read(body, settings) {
      const { merchantId, conversationId, sign } = fieldRules(settings);
      return checkFields(body, { merchantId, conversationId, sign }).conversationId as string;
    },
    answer: inquire,
  }),

  CheckBin: operation({
    path: '/v1/BinList/CheckBin',
    scope: 'pf_read',
    movesMoney: false,
    signed: true,
    read(body, settings) {
      const { merchantId, conversationId, language, sign } = fieldRules(settings);
      const price = { amount: optional(isAmountText), currencyCode: optional(isCurrencyText) };
      const rules = { merchantId, conversationId, language, bin: matches(/^\d{6,8}$/), sign, ...price };
      return binQuestion(checkFields(body, rules));
    },
    // Public sources show only these two fields.
    answer: (question, { settings }) => ({
      fields: {
        responseCode: 'B0000',
        responseDescription: codeText('B0000', 'en'),
        ...binFields(question, settings),
      },
    }),
  }),

  refund: operation({
    path: '/v1/Payment/DoPayment',
    transactionType: 'REFUND',
    scope: 'pf_write',
    movesMoney: true,
    signed: true,
    read: readRefund,
    answer: giveBack,
  }),

  void: operation({
    path: '/v1/Payment/DoPayment',
    transactionType: 'VOID',
    scope: 'pf_write',
    movesMoney: true,
    signed: true,
    read: readVoid,
    answer: giveBack,
  }),

  hostedPage: operation({
    path: '/v1/HostedPayment/HostedPaymentRedirect',
    scope: 'payment',
    movesMoney: false,
    signed: true,
    read: (body, settings) => readHosted('hostedPage', body, settings),
    // Public sources show only `returnUrl`, which is the page's address, not the merchant's.
    answer: (request, gateway) => openPage(request, gateway, (page) => ({ returnUrl: gateway.pages.address(page) })),
  }),

  embeddedForm: operation({
    path: '/v1/EmbeddedPayment/CreatePaymentForm',
    scope: 'payment',
    movesMoney: false,
    signed: true,
    read: (body, settings) => readHosted('embeddedForm', body, settings),
    answer: (request, gateway) =>
      openPage(request, gateway, (page) => ({
        paymentFormContent: gateway.pages.form(page),
        paymentFormExpireTime: istanbulTime(page.endsAt),
        returnUrl: request.returnUrl,
        failUrl: request.failUrl,
      })),
  }),
} satisfies Record<SimulatorOperation, Operation>;

interface Operation extends Omit<OperationDefinition<unknown>, 'signed' | 'read' | 'answer'> {
  work(name: SimulatorOperation, body: JsonObject, gateway: Gateway): OperationWork;
}

function operation<Request>({ signed, read, answer, ...rest }: OperationDefinition<Request>): Operation {
  return {
    ...rest,
    work(name, body, gateway) {
      const request = read(body, gateway.settings);
      if (signed) gateway.expectSign(name, body);
      return answer(request, gateway);
    },
  };
}

/** The operations of a dialect at a path: first the one that a request asks for unless its body says otherwise. */
export function operationsAt(path: string, { operations }: SimulatedDialect): readonly SimulatorOperation[] {
  return operations.filter((name) => OPERATIONS[name].path === path);
}

/** The operation that a body asks for; null if there is none to choose from. */
export function meantOperation(names: readonly SimulatorOperation[], body: unknown): SimulatorOperation | null {
  const { transactionDetails } = (body ?? {}) as { transactionDetails?: { transactionType?: unknown } | null };
  const type = transactionDetails?.transactionType;
  return names.find((name) => OPERATIONS[name].transactionType === type) ?? names[0] ?? null;
}

/** Checks a request, and says what it leads to. */
export function workOf(
  name: SimulatorOperation,
  headers: IncomingHttpHeaders,
  text: string,
  gateway: Gateway,
): GatewayWork {
  try {
    checkHeaders(headers, OPERATIONS[name].scope, gateway.settings);
    const work = OPERATIONS[name].work(name, readJson(headers, text), gateway);
    return { status: 200, pace: 'at once', refusal: null, commit: () => {}, ...work };
  } catch (error) {
    if (error instanceof Refusal) return refusedWork(error);
    throw error;
  }
}

export function refusedWork(refusal: Refusal): GatewayWork {
  const fields = errorFields(refusal.code, refusal.message, refusal.problems);
  return { status: refusal.status, fields, pace: 'at once', refusal, commit: () => {} };
}

/** How errors look in the service's public documentation; the interface shows none. */
export function errorFields(code: string, message: string, problems: readonly string[] = []): JsonObject {
  const validationResults = problems.map((ErrorMessage) => ({ ErrorMessage }));
  return { Message: message, Details: message, Code: code, validationResults };
}

/** The amount and its currency are the simulator's own: the vendor's plugins send neither. */
function binQuestion({ bin, amount, currencyCode }: JsonObject): BinQuestion {
  const price = typeof amount === 'string' ? { amount, currencyCode: Number(currencyCode ?? '949') } : null;
  return { bin: bin as string, price };
}

/** Auth3d. */
function completePayment(body: JsonObject, gateway: Gateway): OperationWork {
  const { bank, ledger } = gateway;
  const session = bank.sessionOf(body.conversationId);
  if (!session?.result || !bringsBack(session.result.content, body)) {
    throw new Refusal(400, REFUSAL_CODES.callback, 'Not the content that the bank sent');
  }
  if (ledger.decision(session.sale.conversationId)) {
    throw new Refusal(400, REFUSAL_CODES.repeated, 'Auth3d was already called for this payment');
  }
  const { verified, code } = session.result;
  return gateway.settle(session.sale, '3d', session, verified ? null : code);
}

/** Opens a page of the gateway's own. */
function openPage(request: HostedRequest, gateway: Gateway, fieldsOf: (page: HostedPage) => JsonObject): OperationWork {
  gateway.expectNew(request);
  const { conversationId, language } = request;
  const { code, message } = gateway.codeFields('B0000', language);
  const page = gateway.pages.prepare(request, gateway.newIds());
  return { fields: { code, message, conversationId, ...fieldsOf(page) }, commit: () => gateway.pages.open(page) };
}

/**
 * CheckPayment, as the service's public documentation and its users show it. A page at which no try was answered is as
 * unknown as a conversationId that it never saw: unverified.
 */
function inquire(conversationId: string, { ledger, settings }: Gateway): OperationWork {
  const decision = ledger.decision(conversationId);
  // A sale stays what it was when money is given back.
  const found = decision?.kind === 'sale' || settings.inquiryKnowsRefunds ? decision : undefined;
  const responseCode = found?.inquiry ?? 'B0029';
  const responseDescription = codeText(responseCode, 'en');
  if (!found?.inquiry) return { fields: { responseCode, responseDescription } };
  const { kind, orderId, paymentId, charge, refund } = found;
  const moved = charge ?? refund;
  const paymentInfo = moved && {
    amount: new JsonNumber(moved.amount),
    currency: String(moved.currencyCode),
    ...(charge && { installmentCount: new JsonNumber(String(charge.installmentCount)) }),
  };
  const transactionStatus = moved ? 'SUCCESS' : 'FAILED';
  const rest = { transactionStatus, transactionType: kind.toUpperCase(), paymentInfo, orderId, paymentId };
  return { fields: { responseCode, responseDescription, ...rest } };
}
