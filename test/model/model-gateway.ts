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
/** The plays that are answered only after the process has ended. */
export const HANGING: readonly string[] = ['hang', 'hangCharged', 'hangBare', 'hangStolen'];
const PAGE = Buffer.from('<html><body>bank</body></html>').toString('base64');
const LESS = '0.01';

interface Sent {
  readonly operation: string;
  readonly conversationId: string;
}

/** A gateway in place of the transport: it answers as it is told, and keeps the ledger that the model is compared with. */
export class ModelGateway {
  readonly http = {};
  /** Every request that it received. */
  readonly sent: Sent[] = [];
  /** How each payment was answered, by conversationId. */
  readonly plays = new Map<string, ChargePlay>();
  private readonly amounts = new Map<string, number | undefined>();
  /** Requests that hang: call one to have it answered. */
  readonly hanging = new Map<string, () => void>();
  play: ChargePlay | InitPlay = 'approve';
  isDown = false;
  private told: (() => void) | null = null;

  isCharged(conversationId: string): boolean {
    const play = this.plays.get(conversationId);
    return play !== undefined && CHARGING.includes(play);
  }

  timesSent(operation: string, conversationId: string): number {
    return this.sent.filter((one) => one.operation === operation && one.conversationId === conversationId).length;
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
    const fields = JSON.parse(body) as { conversationId: string; transactionDetails?: { amount: number } };
    const { conversationId, transactionDetails } = fields;
    if (transactionDetails) this.amounts.set(conversationId, transactionDetails.amount);
    if (operation === 'CheckPayment') return this.isDown ? LOST : this.inquiry(conversationId);
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
        return reply({ code: 'B0000', conversationId, paymentInfo: { amount: this.amounts.get(conversationId) } });
      case 'bare':
      case 'hangBare':
      case 'stolen':
      case 'stolenDeclined':
      case 'hangStolen':
        return reply({ code: 'B0000' });
      case 'less':
        return reply({ code: 'B0000', conversationId, paymentInfo: { amount: LESS } });
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

  private inquiry(conversationId: string): Transmission {
    const play = this.plays.get(conversationId);
    if (play === 'less') return reply({ responseCode: 'B0000', paymentInfo: { amount: LESS } });
    const amount = this.amounts.get(conversationId);
    if (this.isCharged(conversationId)) return reply({ responseCode: 'B0000', amount, currency: '949' });
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

/** The request of a direct payment names it, so that no other payment can be approved. */
function owned(play: ChargePlay): ChargePlay {
  if (play === 'hangStolen') return 'hangBare';
  return play === 'stolen' || play === 'stolenDeclined' ? 'bare' : play;
}
