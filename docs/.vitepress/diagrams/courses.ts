import { sequence, type Step } from './sequence.js';

const [BUYER, SHOP, MODULE, GATEWAY, BANK] = [
  'Buyer’s browser',
  'Your shop',
  'This module',
  'Gateway',
  'Bank',
] as const;

/** For merchants: what a buyer, the shop and the bank see of a payment by 3D Secure. */
export function paymentsWay(): string {
  return sequence(
    [BUYER, SHOP, MODULE, GATEWAY, BANK],
    [
      { from: BUYER, to: SHOP, says: 'order and card' },
      { from: SHOP, to: MODULE, says: 'init3d' },
      { in: MODULE, does: 'stored: initiating', state: 'no' },
      { from: MODULE, to: GATEWAY, says: 'Init3d' },
      { from: GATEWAY, to: MODULE, says: 'the bank’s page', answers: true },
      { in: MODULE, does: 'awaiting', state: 'no' },
      { from: MODULE, to: SHOP, says: 'html', answers: true },
      { from: SHOP, to: BUYER, says: 'html, by @BankPage()', answers: true },
      { from: BUYER, to: BANK, says: 'the code from the SMS' },
      { from: BANK, to: BUYER, says: 'a form that posts the result', answers: true },
      { from: BUYER, to: MODULE, says: 'callback: /payments/{token}/return' },
      { in: MODULE, does: 'claimed, once: authorizing', state: 'perhaps' },
      { from: MODULE, to: GATEWAY, says: 'Auth3d, once' },
      { from: GATEWAY, to: MODULE, says: 'the outcome', answers: true },
      { in: MODULE, does: 'succeeded, stored with its event', state: 'yes' },
      { from: MODULE, to: BUYER, says: '303 to successUrl?conversationId=…', answers: true },
      { from: MODULE, to: SHOP, says: "@OnPayment('succeeded')", answers: true },
    ],
  );
}

/** For merchants: the same at the gateway's own page. */
export function hostedWay(): string {
  return sequence(
    [BUYER, SHOP, MODULE, GATEWAY],
    [
      { from: BUYER, to: SHOP, says: 'order' },
      { from: SHOP, to: MODULE, says: 'startHosted' },
      { from: MODULE, to: GATEWAY, says: 'HostedPaymentRedirect' },
      { from: GATEWAY, to: MODULE, says: 'address of its page', answers: true },
      { in: MODULE, does: 'stored: pending', state: 'perhaps' },
      { from: MODULE, to: SHOP, says: 'redirectUrl', answers: true },
      { from: SHOP, to: BUYER, says: '303 to that address', answers: true },
      { from: BUYER, to: GATEWAY, says: 'card, and what the issuer asks' },
      { from: GATEWAY, to: BUYER, says: 'a form that posts the token', answers: true },
      { from: BUYER, to: MODULE, says: 'callback: /payments/{token}/return' },
      { from: MODULE, to: GATEWAY, says: 'CheckPayment, until the answer is clear' },
      { from: GATEWAY, to: MODULE, says: 'the outcome', answers: true },
      { in: MODULE, does: 'succeeded, stored with its event', state: 'yes' },
      { from: MODULE, to: BUYER, says: '303 to successUrl?conversationId=…', answers: true },
      { from: MODULE, to: SHOP, says: "@OnPayment('succeeded')", answers: true },
    ],
  );
}

const [MERCHANT, SERVICE, CALLBACK, FLOW, WRITER, CLIENT, EVENTS] = [
  'Merchant',
  'payment service',
  'callback receiver',
  'flow',
  'payment writer',
  'gateway client',
  'event dispatcher',
] as const;

const SETTLED: readonly Step[] = [
  { from: FLOW, to: WRITER, says: 'compare-and-set, with the event' },
  { from: WRITER, to: EVENTS, says: 'deliver' },
];

export function directCourse(): string {
  return sequence(
    [MERCHANT, SERVICE, FLOW, WRITER, CLIENT, EVENTS],
    [
      { from: MERCHANT, to: SERVICE, says: 'doPayment' },
      { from: SERVICE, to: FLOW, says: 'direct flow' },
      { from: FLOW, to: WRITER, says: 'insert as charging' },
      { from: FLOW, to: CLIENT, says: 'doPayment' },
      { in: CLIENT, does: 'transport: bytes, at most once' },
      { from: CLIENT, to: FLOW, says: 'succeeded, failed, unknown or review', answers: true },
      ...SETTLED,
      { from: FLOW, to: MERCHANT, says: 'Payment', answers: true },
    ],
  );
}

export function threeDCourse(): string {
  return sequence(
    [MERCHANT, SERVICE, CALLBACK, FLOW, WRITER, CLIENT, EVENTS],
    [
      { from: MERCHANT, to: SERVICE, says: 'init3d' },
      { from: SERVICE, to: FLOW, says: '3D flow' },
      { from: FLOW, to: WRITER, says: 'insert as initiating' },
      { from: FLOW, to: CLIENT, says: 'init3d' },
      { from: FLOW, to: WRITER, says: 'awaiting' },
      { from: FLOW, to: MERCHANT, says: 'html for the buyer’s browser', answers: true },
      { in: MERCHANT, does: 'the buyer is at the bank' },
      { from: MERCHANT, to: CALLBACK, says: 'token and fields' },
      { from: CALLBACK, to: FLOW, says: '3D flow' },
      { from: FLOW, to: WRITER, says: 'claim: awaiting to authorizing, granted once' },
      { from: FLOW, to: CLIENT, says: 'auth3d' },
      { in: CLIENT, does: 'transport: bytes, at most once' },
      ...SETTLED,
      { from: CALLBACK, to: MERCHANT, says: '303 to successUrl, failureUrl or pendingUrl', answers: true },
    ],
  );
}

export function hostedCourse(): string {
  return sequence(
    [MERCHANT, SERVICE, CALLBACK, FLOW, WRITER, CLIENT, EVENTS],
    [
      { from: MERCHANT, to: SERVICE, says: 'startHosted' },
      { from: SERVICE, to: FLOW, says: 'hosted flow' },
      { from: FLOW, to: WRITER, says: 'insert as initiating, which holds the reference' },
      { from: FLOW, to: CLIENT, says: 'hostedPage or embeddedForm' },
      { from: FLOW, to: WRITER, says: 'pending' },
      { from: FLOW, to: MERCHANT, says: 'redirectUrl or html', answers: true },
      { in: MERCHANT, does: 'the buyer pays at the gateway' },
      { from: MERCHANT, to: CALLBACK, says: 'token' },
      { from: CALLBACK, to: FLOW, says: 'hosted flow' },
      { in: FLOW, does: 'or the reconciler, without a callback' },
      { from: FLOW, to: CLIENT, says: 'checkPayment' },
      ...SETTLED,
      { from: CALLBACK, to: MERCHANT, says: '303 to successUrl, failureUrl or pendingUrl', answers: true },
    ],
  );
}

export function refundCourse(): string {
  return sequence(
    [MERCHANT, SERVICE, FLOW, WRITER, CLIENT, EVENTS],
    [
      { from: MERCHANT, to: SERVICE, says: 'refund, void' },
      { from: SERVICE, to: FLOW, says: 'refund flow' },
      { in: FLOW, does: 'a repeat? Enough left? No other one open?' },
      { from: FLOW, to: WRITER, says: 'insert as refunding, with the lock of its payment' },
      { in: FLOW, does: 'add up again, under the lock' },
      { from: FLOW, to: CLIENT, says: 'refund or void' },
      { from: CLIENT, to: FLOW, says: 'succeeded, failed, unknown or review', answers: true },
      ...SETTLED,
      { in: WRITER, does: 'succeeded and failed release the lock' },
      { from: FLOW, to: MERCHANT, says: 'Refund', answers: true },
    ],
  );
}
