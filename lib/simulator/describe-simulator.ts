import { currentTestCards, MAGIC_AMOUNTS, MAGIC_PASSWORDS } from './magic.js';
import type { Simulator } from './simulator.js';

/** What a developer needs to know: the address, settings to paste into `.env`, cards that have not expired, amounts and 3D passwords. */
export function describeSimulator(simulator: Simulator, now = new Date()): string {
  const { url, publicUrl, dialect, credentials } = simulator;
  // The first lines are a comment in an .env file, for whoever writes all of this into one: Node.js would take them for a name.
  return `# Simulated gateway (${dialect}) on ${url}${publicUrl === url ? '' : `, its bank's pages at ${publicUrl}`}
# PAYMENT_PUBLIC_URL is where your application answers.

PAYMENT_BASE_URL=${url}
PAYMENT_DIALECT=${dialect}
PAYMENT_MERCHANT_ID=${credentials.merchantId}
PAYMENT_CLIENT_ID=${credentials.clientId}
PAYMENT_CLIENT_SECRET=${credentials.clientSecret}
PAYMENT_API_KEY=${credentials.apiKey}
PAYMENT_PUBLIC_URL=http://localhost:3000

Test cards (number, expiry MMyy, cvv): approved, unless the amount says otherwise
${rows(currentTestCards(now).map(({ cardNo, expDate, cvv }) => [cardNo, expDate, cvv]))}

Amounts that end in
${rows(MAGIC_AMOUNTS.map(({ digits, code, pace, meaning }) => [`.${digits}`, pace === 'never' ? '' : code, meaning]))}

3D passwords on the bank's page
${rows(MAGIC_PASSWORDS.map(({ code, meaning }) => [code, meaning]))}
`;
}

function rows(cells: string[][]): string {
  const widths = cells[0]?.map((_cell, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0))) ?? [];
  return cells
    .map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd())
    .join('\n');
}
