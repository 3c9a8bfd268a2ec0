import type { DemoGateway } from './demo/demo-gateway.js';

/** What `npm start` prints once the shop is open. */
export function greeting(url: string, demo: DemoGateway): string {
  const [card] = demo.testCards;
  const howToPay = card
    ? `The payment gateway is simulated, so no real money moves. To pay:
  card      ${card.cardNo.replace(/(.{4})(?=.)/g, '$1 ')}   (or click any test card at checkout)
  expiry    ${card.expDate.slice(0, 2)}/${card.expDate.slice(2)}
  CVV       ${card.cvv}
  SMS code  ${demo.smsCode}   (on the bank's page, with 3D Secure)

To use a real gateway, set PAYMENT_BASE_URL and the other PAYMENT_* variables, for example in .env.`
    : 'Payments go to the gateway of PAYMENT_BASE_URL.';
  return `
The shop is open:  ${url}
Payments, refunds and events, for staff:  ${url}/desk

${howToPay}
Press Ctrl-C to stop.
`;
}
