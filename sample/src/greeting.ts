import type { DemoGateway } from './demo/demo-gateway.js';

/** What `npm start` says once the shop is open. */
export function greeting(url: string, demo: DemoGateway): string {
  const [card] = demo.testCards;
  const howToPay = card
    ? `The payment gateway is simulated, so no real money moves. To pay:
  card      ${card.cardNo.replace(/(.{4})(?=.)/g, '$1 ')}   (or click any test card at checkout)
  expiry    ${card.expDate.slice(0, 2)}/${card.expDate.slice(2)}
  CVV       ${card.cvv}
  SMS code  ${demo.smsCode}   (on the bank's page, with 3D Secure)

A real gateway takes its place as soon as PAYMENT_BASE_URL and its companions are set, in .env for example.`
    : 'Payments go to the gateway of PAYMENT_BASE_URL.';
  return `
The shop is open:  ${url}
Orders, payments and events:  ${url}/admin

${howToPay}
Ctrl-C closes the shop.
`;
}
