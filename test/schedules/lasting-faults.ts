import type { PaymentRecord } from '../../lib/payment/payment.js';
import type { Witness } from './witness.js';

/** What a fault knows of the shop. */
interface Shop {
  readonly witness: Pick<Witness, 'records'>;
}

/** A call that leaves a host. */
export interface OutsideCall {
  readonly host: string;
  readonly to: 'store' | 'gateway' | 'orders' | 'mail';
  /** The payment or refund that it is about; undefined for most calls of the store. */
  readonly id?: string;
}

/**
 * Something that breaks at any time during a run and is not mended. All that does not need it must go on meanwhile:
 * half an hour later it has its outcome, and its handlers have heard of it.
 */
export interface LastingFault {
  readonly what: string;
  readonly strikes: (call: OutsideCall, shop: Shop) => boolean;
  /** Whether a request reaches the gateway all the same, and only its answer is lost. */
  readonly arrives?: boolean;
  /** Which records may wait until it is mended. None, unless this is given. */
  readonly keepsWaiting?: (record: PaymentRecord, shop: Shop) => boolean;
}

/** The reference of the order whose payments are struck. */
export const STRUCK = 'order-1';

const isStruck = ({ reference }: PaymentRecord): boolean => reference === STRUCK;

const isAboutStruck = ({ id = '' }: OutsideCall, { witness }: Shop): boolean => {
  const record = witness.records.get(id);
  return record !== undefined && isStruck(record);
};

export const LASTING = {
  mailIsDown: {
    what: 'the handler that mails always throws',
    strikes: ({ to }) => to === 'mail',
  },
  handlerRefusesOne: {
    what: 'the handler always throws for one order',
    strikes: (call, shop) => call.to === 'orders' && isAboutStruck(call, shop),
    keepsWaiting: isStruck,
  },
  oneIsNotAnswered: {
    what: 'the gateway answers nothing about one order',
    strikes: (call, shop) => call.to === 'gateway' && isAboutStruck(call, shop),
    arrives: true,
    keepsWaiting: isStruck,
  },
  aHasNoStore: {
    what: 'A no longer reaches the store',
    strikes: ({ host, to }) => host === 'A' && to === 'store',
  },
  aHasNoGateway: {
    what: 'A no longer reaches the gateway',
    strikes: ({ host, to }) => host === 'A' && to === 'gateway',
  },
} satisfies Record<string, LastingFault>;
