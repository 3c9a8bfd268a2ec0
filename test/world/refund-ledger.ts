import type { RefundKind } from 'nestjs-card-payment';

/** What each sale is of, in minor units. */
export const SALE_UNITS = 14_990;

/** A refund or void that reached the gateway. */
export interface GatewayRefund {
  readonly refundId: string;
  readonly kind: RefundKind;
  /** The payment whose ids it named. */
  readonly conversationId: string;
  readonly units: number;
  /** How many requests of it arrived. */
  arrivals: number;
  /** How often the money was given back. */
  times: number;
  isDecided: boolean;
}

/** Money that someone gave back at the gateway's own panel, of which the module does not hear. */
interface PanelRefund {
  readonly conversationId: string;
  readonly units: number;
}

/** What the gateway has given back. It never gives back more than was taken. */
export class RefundLedger {
  readonly requested = new Map<string, GatewayRefund>();
  /** By the key under which the merchant records each. */
  readonly atPanel = new Map<string, PanelRefund>();

  constructor(private readonly chargesOf: (conversationId: string) => number) {}

  arrive(refundId: string, kind: RefundKind, conversationId: string, units: number): GatewayRefund {
    const refund = this.requested.get(refundId) ?? newRefund(refundId, kind, conversationId, units);
    this.requested.set(refundId, refund);
    refund.arrivals += 1;
    return refund;
  }

  /** Gives the money back, if as much is left. A void is of a whole sale. */
  giveBack(refund: GatewayRefund): boolean {
    const { kind, conversationId, units } = refund;
    const given = this.givenOf(conversationId);
    const isFit = units + given <= this.takenOf(conversationId) && (kind === 'refund' || given === 0);
    if (isFit) refund.times += 1;
    return isFit;
  }

  giveBackAtPanel(key: string, conversationId: string, units: number): boolean {
    const isFit = units + this.givenOf(conversationId) <= this.takenOf(conversationId);
    if (isFit) this.atPanel.set(key, { conversationId, units });
    return isFit;
  }

  isGivenBack(refundId: string): boolean {
    return (this.requested.get(refundId)?.times ?? 0) > 0;
  }

  takenOf(conversationId: string): number {
    return this.chargesOf(conversationId) * SALE_UNITS;
  }

  givenOf(conversationId: string): number {
    const ofPayment = [...this.requested.values()].filter((refund) => refund.conversationId === conversationId);
    const panel = [...this.atPanel.values()].filter((refund) => refund.conversationId === conversationId);
    return (
      ofPayment.reduce((sum, { times, units }) => sum + times * units, 0) +
      panel.reduce((sum, { units }) => sum + units, 0)
    );
  }
}

function newRefund(refundId: string, kind: RefundKind, conversationId: string, units: number): GatewayRefund {
  return { refundId, kind, conversationId, units, arrivals: 0, times: 0, isDecided: false };
}

/** Minor units of an amount, of a currency with two decimals. */
export function unitsOf(amount: string | number): number {
  return Math.round(Number(amount) * 100);
}

export function amountOf(units: number): string {
  return (units / 100).toFixed(2);
}
