import { isSameDay, JsonNumber, majorUnits, minorUnits, referencePrefix, replyDate } from './wire-values.js';
import type { Gateway, OperationWork } from './gateway.js';
import type { Charge, ChargeRefund, Decision, RefundOperation } from './ledger.js';
import { type MagicRefund, magicRefundOf } from './magic.js';
import type { GatewayRequest } from './requests.js';

/**
 * The result codes of refunds and voids that the gateway declines. Which ones the service uses is unverified: these are
 * the ones of the vendor's list, which follows ISO 8583, whose meaning comes closest.
 */
const DECLINES = {
  /** PaymentID is not found. */
  unknownPayment: 'B0100',
  /** PaymentID is invalid: it is another order's. */
  otherOrder: 'B0101',
  /** Original is declined: nothing was taken. */
  notCharged: 'B0028',
  /** Invalid transaction: the general one. The list has none about currencies. */
  otherCurrency: 'B0012',
  /** Invalid amount: more than is left. */
  amount: 'B0013',
  /** Invalid Authorization Life Cycle: after what was given back before, there can be no void, or no refund. */
  lifeCycle: 'B0084',
  /** No action taken, by which ISO 8583 means that a transaction can no longer be backed out: its day has passed. */
  settled: 'B0021',
} as const;

/** What the gateway decides about a refund or void. */
interface RefundVerdict extends Pick<MagicRefund, 'code' | 'givesBack' | 'pace' | 'wrong' | 'inquiry'> {
  /** Whether more was asked for than was left. */
  readonly isExcessive: boolean;
}

/**
 * Has the gateway decide on a refund or void. The answer is that of the vendor's public sample of a refund: it has no
 * sign and no amount. That a void's is the same is assumed, as is that the ids are those of the payment.
 *
 * @throws Refusal (400) when the conversationId was used before
 */
export function giveBack(kind: RefundOperation, request: GatewayRequest, gateway: Gateway): OperationWork {
  gateway.expectNew(request);
  const { ledger, settings } = gateway;
  const { conversationId, language, paymentId } = request;
  const at = settings.clock();
  const payment = ledger.decisionOfPayment(paymentId);
  const charge = payment?.charge ?? null;
  const amount = request.amount || (charge?.amount ?? null);
  const verdict = refundVerdict(kind, request, payment, charge ? ledger.refundsOf(charge) : [], at);
  const { code, givesBack, pace, wrong, inquiry, isExcessive } = verdict;
  const orderId = payment?.orderId ?? request.orderId;
  const refund: ChargeRefund | null =
    charge && givesBack
      ? { conversationId, kind, charge, amount: amount ?? charge.amount, currencyCode: charge.currencyCode, at }
      : null;
  const fields = {
    ...gateway.codeFields(code, language),
    responseDate: replyDate(at),
    conversationId: wrong === 'conversationId' ? 'SIM00000000000000000' : conversationId,
    orderId,
    paymentId,
    bankUniqueReferenceNumber: refund ? referencePrefix(at) + gateway.newIds().paymentId.slice(-6) : '',
    ...(wrong === 'amount' && charge && { paymentInfo: { amount: new JsonNumber(largerThan(charge)) } }),
  };
  return {
    fields,
    pace,
    commit() {
      ledger.record({ conversationId, kind, inquiry, orderId, paymentId, charge: null, refund });
      if (isExcessive) ledger.violations.push({ kind: 'excessive-refund', operation: kind, conversationId, at });
    },
  };
}

/** @param given what was given back of the charge before */
function refundVerdict(
  kind: RefundOperation,
  request: GatewayRequest,
  payment: Decision | undefined,
  given: readonly ChargeRefund[],
  at: Date,
): RefundVerdict {
  if (!payment) return declined(DECLINES.unknownPayment);
  const { orderId, charge } = payment;
  if (kind === 'refund' && request.orderId !== orderId) return declined(DECLINES.otherOrder);
  if (!charge) return declined(DECLINES.notCharged);
  const { currencyCode } = charge;
  if (request.currencyCode !== currencyCode) return declined(DECLINES.otherCurrency);

  const amount = request.amount || charge.amount;
  const taken = minorUnits(charge.amount, currencyCode);
  const left = given.reduce((rest, earlier) => rest - minorUnits(earlier.amount, currencyCode), taken);
  const isExcessive = minorUnits(amount, currencyCode) > left;
  const isBarred = kind === 'void' ? given.length > 0 : given.some((earlier) => earlier.kind === 'void');
  if (isBarred) return declined(DECLINES.lifeCycle, isExcessive);
  if (isExcessive) return declined(DECLINES.amount, isExcessive);
  if (kind === 'void' && !isSameDay(charge.at, at)) return declined(DECLINES.settled);
  return { ...magicRefundOf(amount), isExcessive };
}

function declined(code: string, isExcessive = false): RefundVerdict {
  return { code, givesBack: false, pace: 'at once', wrong: 'nothing', inquiry: code, isExcessive };
}

/** An amount that is neither a refund's nor the sale's. */
function largerThan({ amount, currencyCode }: Charge): string {
  return majorUnits(minorUnits(amount, currencyCode) + 1n, currencyCode);
}
