import type { Transmission, WireRequest } from '../../lib/gateway/transport/transmission.js';
import { LOST, reply } from '../flows/fake-gateway.js';

/**
 * How the gateway answers a DoPayment or Auth3d. `less` charges a kurus instead of the amount; `liar` charges and says that
 * it declined; `bare` approves without naming the payment. A `stolen` Auth3d does so, too, after it approved another
 * payment: this one it does not know, or has declined. A play that contains `hang` answers only after the process that
 * asked has ended.
 */
export const CHARGE_PLAYS = [
  'approve',
  'decline',
  'indeterminate',
  'indeterminateCharged',
  'less',
  'lost',
  'lostCharged',
  'liar',
  'notSent',
  'hang',
  'hangCharged',
  'bare',
  'hangBare',
  'stolen',
  'stolenDeclined',
  'hangStolen',
] as const;
export type ChargePlay = (typeof CHARGE_PLAYS)[number];

/** How it answers an Init3d. */
export const INIT_PLAYS = ['page', 'refuse', 'lost', 'notSent', 'hang'] as const;
export type InitPlay = (typeof INIT_PLAYS)[number];

/**
 * How it answers a refund or void. `bare` approves without naming it; `vagueGiven` gives back, which no inquiry finds;
 * `lostWrong` gives back, and an inquiry shows another amount, as the answer of `wrongAmount` does. `other` approves
 * another refund; `otherDeclined` gives back and says that another one was declined. The rest are as for charges.
 */
export const REFUND_PLAYS = [
  'approve',
  'bare',
  'decline',
  'vague',
  'vagueGiven',
  'lost',
  'lostGiven',
  'lostWrong',
  'liar',
  'notSent',
  'other',
  'otherDeclined',
  'wrongAmount',
  'hang',
  'hangGiven',
] as const;
export type RefundPlay = (typeof REFUND_PLAYS)[number];

const CHARGING: readonly ChargePlay[] = [
  'approve',
  'indeterminateCharged',
  'less',
  'lostCharged',
  'liar',
  'hangCharged',
  'bare',
  'hangBare',
];
const GIVING: readonly RefundPlay[] = [
  'approve',
  'bare',
  'vagueGiven',
  'lostGiven',
  'lostWrong',
  'liar',
  'otherDeclined',
  'wrongAmount',
  'hangGiven',
];
/** The plays that are answered only after the process has ended. */
export const HANGING: readonly string[] = ['hang', 'hangCharged', 'hangBare', 'hangStolen', 'hangGiven'];
const PAGE = Buffer.from('<html><body>bank</body></html>').toString('base64');
/** What `less` charges. */
export const LESS = '0.01';
/** An amount that no payment and no refund has. */
const WRONG = '0.03';

interface Sent {
  readonly operation: string;
  readonly conversationId: string;
}

/** The body of a request, as far as it is read. */
interface Body {
  readonly conversationId: string;
  readonly orderId?: string;
  readonly paymentId?: string;
  readonly transactionDetails?: { readonly transactionType: string; readonly amount?: number };
}

/** A refund or void that the gateway received. */
export interface GatewayRefund {
  readonly refundId: string;
  readonly type: string;
  readonly play: RefundPlay;
  /** The payment that its ids name; null if they are no charged payment's. */
  readonly conversationId: string | null;
  readonly amount: string;
}

/** A gateway in place of the transport: it answers as it is told, and keeps the ledger that the model is compared with. */
export class ModelGateway {
  readonly http = {};
  /** Every request that it received. */
  readonly sent: Sent[] = [];
  /** How each payment was answered, by conversationId. */
  readonly plays = new Map<string, ChargePlay>();
  /** Every refund and void that it received, by refundId. */
  readonly refunds = new Map<string, GatewayRefund>();
  private readonly amounts = new Map<string, number | undefined>();
  /** Requests that hang: call one to have it answered. */
  readonly hanging = new Map<string, () => void>();
  play: ChargePlay | InitPlay | RefundPlay = 'approve';
  isDown = false;
  private told: (() => void) | null = null;

  isCharged(conversationId: string): boolean {
    const play = this.plays.get(conversationId);
    return play !== undefined && CHARGING.includes(play);
  }

  /** What it took of a payment. */
  chargedAmount(conversationId: string): string {
    if (!this.isCharged(conversationId)) return '0';
    return this.plays.get(conversationId) === 'less' ? LESS : String(this.amounts.get(conversationId));
  }

  isGiven(refundId: string): boolean {
    const refund = this.refunds.get(refundId);
    return refund !== undefined && GIVING.includes(refund.play);
  }

  /** Resolves once a request hangs. */
  hangs(): Promise<void> {
    return new Promise((resolve) => (this.told = resolve));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  async post({ url, body }: WireRequest): Promise<Transmission> {
    await Promise.resolve();
    const operation = url.split('/').pop() ?? '';
    const fields = JSON.parse(body) as Body;
    const { conversationId, transactionDetails } = fields;
    const type = transactionDetails?.transactionType ?? '';
    if (type === 'REFUND' || type === 'VOID') return this.refund(fields, type, this.play as RefundPlay);
    if (transactionDetails) this.amounts.set(conversationId, transactionDetails.amount);
    if (operation === 'CheckPayment') {
      // Long enough for others to change what is asked about.
      await new Promise(setImmediate);
      return this.isDown ? LOST : this.inquiry(conversationId);
    }
    if (this.play === 'notSent') return { sent: false, cause: 'connection_failed' };
    this.sent.push({ operation, conversationId });
    if (operation === 'Init3d') return this.init(conversationId, this.play as InitPlay);
    return this.charge(
      conversationId,
      operation === 'DoPayment' ? owned(this.play as ChargePlay) : (this.play as ChargePlay),
    );
  }

  private async init(conversationId: string, play: InitPlay): Promise<Transmission> {
    if (play === 'hang') await this.hang(conversationId);
    if (play === 'lost') return LOST;
    if (play === 'refuse') return reply({ code: 'B0005' });
    return reply({ code: 'B0000', conversationId, htmlForm: PAGE });
  }

  private async charge(conversationId: string, play: ChargePlay): Promise<Transmission> {
    this.plays.set(conversationId, play);
    if (HANGING.includes(play)) await this.hang(conversationId);
    switch (play) {
      case 'approve':
      case 'hangCharged':
        return reply({
          code: 'B0000',
          conversationId,
          ...idsOf(conversationId),
          paymentInfo: { amount: this.amounts.get(conversationId) },
        });
      case 'bare':
      case 'hangBare':
        return reply({ code: 'B0000', ...idsOf(conversationId) });
      case 'stolen':
      case 'stolenDeclined':
      case 'hangStolen':
        return reply({ code: 'B0000', ...idsOf('ANOTHER') });
      case 'less':
        return reply({ code: 'B0000', conversationId, ...idsOf(conversationId), paymentInfo: { amount: LESS } });
      case 'indeterminate':
      case 'indeterminateCharged':
        return reply({ code: 'B0096' });
      case 'decline':
      case 'liar':
      case 'hang':
        return reply({ code: 'B0051' });
      case 'lost':
      case 'lostCharged':
      case 'notSent':
        return LOST;
    }
  }

  private async refund({ conversationId, ...body }: Body, type: string, play: RefundPlay): Promise<Transmission> {
    if (play === 'notSent') return { sent: false, cause: 'connection_failed' };
    this.sent.push({ operation: type, conversationId });
    const payment = [...this.plays.keys()].find((id) => isOf(id, body, type) && this.isCharged(id)) ?? null;
    const { amount = this.chargedAmount(payment ?? '') } = body.transactionDetails ?? {};
    const refund = { refundId: conversationId, type, play, conversationId: payment, amount: String(amount) };
    this.refunds.set(conversationId, refund);
    if (HANGING.includes(play)) await this.hang(conversationId);
    switch (play) {
      case 'approve':
      case 'hangGiven':
        // As in the vendor's sample, whose answer has two codes.
        return reply({ code: '00', resultCode: 'B0000', conversationId, currency: '949', paymentInfo: { amount } });
      case 'bare':
        return reply({ code: '00' });
      case 'wrongAmount':
        return reply({ code: '00', conversationId, paymentInfo: { amount: WRONG } });
      case 'other':
        return reply({ code: '00', conversationId: 'ANOTHER' });
      case 'otherDeclined':
        return reply({ code: 'B0051', conversationId: 'ANOTHER' });
      case 'vague':
      case 'vagueGiven':
        return reply({ code: 'B0096' });
      case 'decline':
      case 'liar':
      case 'hang':
        return reply({ code: 'B0051', conversationId });
      case 'lost':
      case 'lostGiven':
      case 'lostWrong':
        return LOST;
    }
  }

  /** What is said about a refund: the truth, nothing, or something about its payment. */
  private refundInquiry({ refundId, type, play, amount, conversationId }: GatewayRefund): Transmission {
    if (play === 'lost') return reply({ responseCode: 'B0051', transactionType: type });
    if (play === 'vague') return reply({ responseCode: 'B0000', amount: this.chargedAmount(conversationId ?? '') });
    if (!this.isGiven(refundId) || play === 'vagueGiven') {
      return reply({ responseCode: 'B0100', transactionType: type });
    }
    const shown = play === 'lostWrong' ? WRONG : amount;
    return reply({ responseCode: 'B0000', transactionType: type, amount: shown, currency: '949' });
  }

  private inquiry(conversationId: string): Transmission {
    const refund = this.refunds.get(conversationId);
    if (refund) return this.refundInquiry(refund);
    const play = this.plays.get(conversationId);
    if (play === 'less') return reply({ responseCode: 'B0000', paymentInfo: { amount: LESS } });
    const amount = this.amounts.get(conversationId);
    if (this.isCharged(conversationId)) {
      return reply({ responseCode: 'B0000', amount, currency: '949', ...idsOf(conversationId) });
    }
    if (play === 'decline' || play === 'stolenDeclined') return reply({ responseCode: 'B0051' });
    return reply({ responseCode: play === 'indeterminate' ? 'B0091' : 'B0100' });
  }

  private hang(conversationId: string): Promise<void> {
    return new Promise((resolve) => {
      this.hanging.set(conversationId, resolve);
      this.told?.();
    });
  }
}

/** The gateway's own ids of a payment. */
function idsOf(conversationId: string): { orderId: string; paymentId: string } {
  return { orderId: `O-${conversationId}`, paymentId: `P-${conversationId}` };
}

/** Whether a refund is of this payment. A void names no order. */
function isOf(conversationId: string, { orderId, paymentId }: Partial<Body>, type: string): boolean {
  const ids = idsOf(conversationId);
  return paymentId === ids.paymentId && (type === 'VOID' || orderId === ids.orderId);
}

/** The request of a direct payment names it, so that no other payment can be approved. */
function owned(play: ChargePlay): ChargePlay {
  if (play === 'hangStolen') return 'hangBare';
  return play === 'stolen' || play === 'stolenDeclined' ? 'bare' : play;
}
