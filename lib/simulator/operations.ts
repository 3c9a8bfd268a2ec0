import type { IncomingHttpHeaders } from 'node:http';
import { bringsBack } from './bank.js';
import { binFields } from './bins.js';
import { istanbulTime, JsonNumber, type JsonObject } from './wire-values.js';
import type { SimulatedDialect } from './dialects.js';
import type { Gateway, GatewayWork, OperationWork } from './gateway.js';
import type { HostedPage } from './hosted-pages.js';
import {
  checkHeaders,
  type GatewayRequest,
  readJson,
  readRequest,
  Refusal,
  REFUSAL_CODES,
  type Scope,
} from './requests.js';
import type { SimulatorOperation } from './ledger.js';
import { codeText } from './magic.js';
import { giveBack } from './refunds.js';

interface Operation {
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
  /** @throws Refusal (400) */
  readonly answer: (request: GatewayRequest, gateway: Gateway, body: JsonObject) => OperationWork;
}

/** What the gateway can be asked to do: where, and what it answers. */
export const OPERATIONS: Readonly<Record<SimulatorOperation, Operation>> = {
  DoPayment: {
    path: '/v1/Payment/DoPayment',
    scope: 'pf_write',
    movesMoney: true,
    answer(sale, gateway) {
      gateway.expectNew(sale);
      return gateway.settle(sale, 'direct', gateway.newIds());
    },
  },

  Init3d: {
    path: '/v1/Payment/Init3d',
    scope: 'pf_write',
    movesMoney: false,
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
  },

  Auth3d: {
    path: '/v1/Payment/Auth3d',
    scope: 'pf_write',
    movesMoney: true,
    answer: (_request, gateway, body) => completePayment(body, gateway),
  },
  CheckPayment: { path: '/v1/Payment/CheckPayment', scope: 'pf_read', movesMoney: false, answer: inquire },

  CheckBin: {
    path: '/v1/BinList/CheckBin',
    scope: 'pf_read',
    movesMoney: false,
    // Public sources show only these two fields.
    answer: (request, { settings }) => ({
      fields: { responseCode: 'B0000', responseDescription: codeText('B0000', 'en'), ...binFields(request, settings) },
    }),
  },

  refund: {
    path: '/v1/Payment/DoPayment',
    transactionType: 'REFUND',
    scope: 'pf_write',
    movesMoney: true,
    answer: (request, gateway) => giveBack('refund', request, gateway),
  },
  void: {
    path: '/v1/Payment/DoPayment',
    transactionType: 'VOID',
    scope: 'pf_write',
    movesMoney: true,
    answer: (request, gateway) => giveBack('void', request, gateway),
  },

  hostedPage: {
    path: '/v1/HostedPayment/HostedPaymentRedirect',
    scope: 'payment',
    movesMoney: false,
    // Public sources show only `returnUrl`, which is the page's address, not the merchant's.
    answer: (request, gateway) => openPage(request, gateway, (page) => ({ returnUrl: gateway.pages.address(page) })),
  },
  embeddedForm: {
    path: '/v1/EmbeddedPayment/CreatePaymentForm',
    scope: 'payment',
    movesMoney: false,
    answer: (request, gateway) =>
      openPage(request, gateway, (page) => ({
        paymentFormContent: gateway.pages.form(page),
        paymentFormExpireTime: istanbulTime(page.endsAt),
        returnUrl: request.returnUrl,
        failUrl: request.failUrl,
      })),
  },
};

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
    const body = readJson(headers, text);
    const request = readRequest(name, body, gateway.settings);
    if (name !== 'Auth3d') gateway.expectSign(name, body);
    const work = OPERATIONS[name].answer(request, gateway, body);
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
function openPage(
  request: GatewayRequest,
  gateway: Gateway,
  fieldsOf: (page: HostedPage) => JsonObject,
): OperationWork {
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
function inquire({ conversationId }: GatewayRequest, { ledger, settings }: Gateway): OperationWork {
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
