import type { TestClock } from 'nestjs-card-payment/testing';
import type { GatewayTransport } from '../../lib/gateway/transport/gateway-transport.js';
import type { LostReply, Transmission, WireRequest } from '../../lib/gateway/transport/attempt.js';
import type { Chance } from '../rigs/chance.js';
import type { Life } from './life.js';
import { amountOf, type GatewayRefund, RefundLedger, SALE_UNITS, unitsOf } from './refund-ledger.js';
import type { Trace } from './trace.js';

/** What happens to a request. */
type Fate = 'answered' | 'notSent' | 'lostBefore' | 'lostAfter' | 'slow' | 'serverError';

export type GatewayWeather = Readonly<Record<Fate, number>>;

export const FINE_GATEWAY: GatewayWeather = {
  answered: 1,
  notSent: 0,
  lostBefore: 0,
  lostAfter: 0,
  slow: 0,
  serverError: 0,
};

export const GATEWAY_TIMEOUT_MS = 10_000;
const AMOUNT = amountOf(SALE_UNITS);

/** A sale in the gateway's ledger. */
export interface Sale {
  readonly conversationId: string;
  /** How many DoPayments and Auth3ds of it arrived. */
  arrivals: number;
  /** How often the card was charged. */
  charges: number;
  isDecided: boolean;
}

/** The gateway's own page of a sale. It can be paid however late it is. */
export interface WorldPage {
  readonly conversationId: string;
  readonly address: string;
  /** With which its buyer comes back to the shop. */
  readonly token: string;
}

interface WireFields {
  readonly conversationId: string;
  readonly returnUrl?: string;
  readonly paymentId?: string;
  readonly transactionDetails?: { readonly transactionType?: string; readonly amount?: number };
}

/**
 * What an inquiry by a refund's id finds. Which it is at the real gateway is not known; `sale`: it looks up the
 * payment, and answers about that.
 */
type RefundInquiry = 'refund' | 'nothing' | 'sale';

const ORDER_PREFIX = 'ORDER-';
const PAYMENT_PREFIX = 'PAYMENT-';
const PAGE = Buffer.from('<html><body>bank</body></html>').toString('base64');

/** The gateway and the network to it, in place of the transport. Its ledger is always right. */
export class WorldGateway {
  readonly sales = new Map<string, Sale>();
  readonly pages = new Map<string, WorldPage>();
  readonly refunds = new RefundLedger((conversationId) => this.sales.get(conversationId)?.charges ?? 0);
  /** Is told of each refund that arrives. */
  onRefund: (refund: GatewayRefund) => void = () => undefined;
  weather: GatewayWeather = FINE_GATEWAY;
  /** How often the bank declines. */
  declines = 0.25;
  /** How often the answer to a charge is indeterminate. */
  vague = 0.1;
  /** How often Auth3d's approval does not name the payment. */
  bare = 0.2;
  /** How often Auth3d approves another payment than the requested one, without naming it. */
  stolen = 0.05;
  /** How often the answer to a refund names another one. */
  odd = 0.05;
  /** How often an inquiry's approval shows the gateway's ids of a payment. */
  shownIds = 0.8;
  readonly refundInquiry: RefundInquiry;

  constructor(
    private readonly clock: TestClock,
    private readonly chance: Chance,
    private readonly trace: Trace,
  ) {
    this.refundInquiry = chance.oneOf(['refund', 'nothing', 'sale']);
  }

  isCharged(conversationId: string): boolean {
    return (this.sales.get(conversationId)?.charges ?? 0) > 0;
  }

  /** A buyer types a card at the gateway's own page, which can be paid once. */
  payAtPage(conversationId: string): void {
    const sale = this.sales.get(conversationId) ?? { conversationId, arrivals: 0, charges: 0, isDecided: true };
    this.sales.set(conversationId, sale);
    if (sale.charges > 0) return;
    const isDeclined = this.chance.happens(this.declines);
    if (!isDeclined) sale.charges += 1;
    this.trace.add(() => `gateway ${isDeclined ? 'declines' : 'charges'} ${conversationId} at its own page`);
  }

  /** The transport of one process. */
  transportOf(life: Life): GatewayTransport {
    const post = async (request: WireRequest): Promise<Transmission> => {
      const began = this.clock.monotonic();
      await life.goesOn();
      // Like the transport: after the deadline nothing is sent.
      if (this.clock.monotonic() - began >= GATEWAY_TIMEOUT_MS) return { sent: false, cause: 'deadline' };
      const transmission = await this.exchange(request);
      await life.goesOn();
      return transmission;
    };
    return { http: {}, post, close: () => Promise.resolve() } as unknown as GatewayTransport;
  }

  private async exchange({ url, body }: WireRequest): Promise<Transmission> {
    const operation = url.split('/').pop() ?? '';
    const fields = JSON.parse(body) as WireFields;
    const fate = this.chance.weighted(this.weather);
    this.trace.add(() => `gateway ${operation} ${fields.conversationId} ${fate}`);
    if (fate === 'notSent') {
      await this.clock.sleep(this.chance.between(1, 1_000));
      return { sent: false, cause: 'connection_failed' };
    }
    if (fate === 'lostBefore') {
      await this.clock.sleep(this.chance.between(1, GATEWAY_TIMEOUT_MS));
      return lost('connection_lost');
    }
    const deadline = new AbortController();
    const late = this.clock.sleep(GATEWAY_TIMEOUT_MS, deadline.signal).then(() => lost('deadline'));
    const transmission = await Promise.race([late, this.serve(operation, fields, fate)]);
    deadline.abort();
    return transmission;
  }

  private async serve(operation: string, fields: WireFields, fate: Fate): Promise<Transmission> {
    await this.clock.sleep(this.chance.between(1, fate === 'slow' ? GATEWAY_TIMEOUT_MS - 1 : 300));
    const answer = await this.answer(operation, fields, fate === 'slow');
    await this.clock.sleep(this.chance.between(1, fate === 'slow' ? 5_000 : 300));
    if (fate === 'lostAfter') return lost('connection_lost');
    return { sent: true, reply: { status: fate === 'serverError' ? 502 : 200, text: JSON.stringify(answer) } };
  }

  private answer(operation: string, fields: WireFields, isSlow: boolean): object | Promise<object> {
    const { conversationId, transactionDetails } = fields;
    if (operation === 'CheckPayment') return this.inquiry(conversationId);
    const type = transactionDetails?.transactionType;
    if (type === 'REFUND' || type === 'VOID') return this.giveBack(type, fields, isSlow);
    if (operation === 'HostedPaymentRedirect') return this.openPage(fields);
    if (operation !== 'Init3d') return this.charge(operation, conversationId, isSlow);
    if (this.chance.happens(this.declines / 4)) return { code: 'B0005' };
    return { code: 'B0000', conversationId, htmlForm: PAGE };
  }

  private openPage({ conversationId, returnUrl = '' }: WireFields): object {
    if (this.chance.happens(this.declines / 4)) return { code: 'B0005' };
    const [, token = ''] = /payments\/([\w-]{43})/.exec(returnUrl) ?? [];
    const address = `https://gateway.example/pay/${conversationId}`;
    this.pages.set(conversationId, { conversationId, address, token });
    return { code: 'B0000', conversationId, returnUrl: address };
  }

  private async charge(operation: string, conversationId: string, isSlow: boolean): Promise<object> {
    const sale = this.sales.get(conversationId) ?? { conversationId, arrivals: 0, charges: 0, isDecided: false };
    this.sales.set(conversationId, sale);
    sale.arrivals += 1;
    this.trace.add(() => `gateway got ${operation} ${conversationId}`);
    await this.clock.sleep(this.chance.between(1, isSlow ? 20_000 : 500));
    const isDeclined = this.chance.happens(this.declines);
    const isStolen = operation === 'Auth3d' && this.chance.happens(this.stolen);
    if (!isDeclined && !isStolen) sale.charges += 1;
    sale.isDecided = true;
    this.trace.add(
      () => `gateway ${isStolen ? 'charges another for' : isDeclined ? 'declines' : 'charges'} ${conversationId}`,
    );
    if (isStolen) return { code: 'B0000', ...idsOf(this.chance.oneOf([...this.sales.keys()])) };
    if (this.chance.happens(this.vague)) return { code: 'B0096' };
    if (isDeclined) return { code: 'B0051', conversationId };
    const ids = idsOf(conversationId);
    if (operation === 'Auth3d' && this.chance.happens(this.bare)) return { code: 'B0000', ...ids };
    return { code: 'B0000', conversationId, ...ids, currency: '949', paymentInfo: { amount: AMOUNT } };
  }

  private async giveBack(type: 'REFUND' | 'VOID', fields: WireFields, isSlow: boolean): Promise<object> {
    const { conversationId: refundId, paymentId = '', transactionDetails } = fields;
    const conversationId = paymentId.slice(PAYMENT_PREFIX.length);
    const units = type === 'VOID' ? SALE_UNITS : unitsOf(transactionDetails?.amount ?? NaN);
    const kind = type === 'VOID' ? 'void' : 'refund';
    const refund = this.refunds.arrive(refundId, kind, conversationId, units);
    this.trace.add(() => `gateway got ${kind} ${refundId} of ${amountOf(units)} of ${conversationId}`);
    this.onRefund(refund);
    await this.clock.sleep(this.chance.between(1, isSlow ? 20_000 : 500));
    const isGiven = !this.chance.happens(this.declines) && this.refunds.giveBack(refund);
    refund.isDecided = true;
    this.trace.add(() => `gateway ${isGiven ? 'gives back' : 'refuses'} ${refundId}`);
    if (this.chance.happens(this.vague)) return { code: 'B0096' };
    const named = this.chance.happens(this.odd) ? 'REF99999999999999999' : refundId;
    if (!isGiven) return { code: 'B0012', conversationId: named };
    const code = this.chance.oneOf(['B0000', '00']);
    return { code, conversationId: named, ...idsOf(conversationId), ...this.shownAmount(refund) };
  }

  /** The answer about a refund may show its amount, the payment's, or none. */
  private shownAmount({ units }: GatewayRefund): object {
    return this.chance.oneOf([{}, { paymentInfo: { amount: amountOf(units) } }, { paymentInfo: { amount: AMOUNT } }]);
  }

  private inquiry(conversationId: string): object {
    const refund = this.refunds.requested.get(conversationId);
    if (refund) return this.inquiryOfRefund(refund);
    const sale = this.sales.get(conversationId);
    if (!sale) return { responseCode: 'B0100' };
    if (!sale.isDecided) return { responseCode: 'B0091' };
    if (sale.charges === 0) return { responseCode: 'B0051', conversationId };
    const ids = this.chance.happens(this.shownIds) ? idsOf(conversationId) : {};
    const said = { responseCode: 'B0000', responseDescription: 'Approved' };
    return { ...said, conversationId, ...ids, paymentInfo: { amount: AMOUNT } };
  }

  private inquiryOfRefund(refund: GatewayRefund): object {
    const { refundId, kind, isDecided, times } = refund;
    if (this.refundInquiry === 'nothing') return { responseCode: 'B0100' };
    const approval = { responseCode: 'B0000', transactionStatus: 'SUCCESS' };
    if (this.refundInquiry === 'sale') {
      return { ...approval, transactionType: 'SALE', paymentInfo: { amount: AMOUNT } };
    }
    if (!isDecided) return { responseCode: 'B0091' };
    const transactionType = kind === 'void' ? 'VOID' : 'REFUND';
    if (times === 0) return { responseCode: 'B0051', transactionType };
    return { ...approval, conversationId: refundId, transactionType, ...this.shownAmount(refund) };
  }
}

/** The gateway's ids of a payment. */
function idsOf(conversationId: string): object {
  return { orderId: ORDER_PREFIX + conversationId, paymentId: PAYMENT_PREFIX + conversationId };
}

function lost(cause: LostReply): Transmission {
  return { sent: true, reply: null, cause };
}
