// Draws the pictures of the states in docs/errors.md, docs/refunds.md and their translations from their table: `npm run states`.
// `--print [PAGE]` prints a page instead, by default docs/errors.md.
import { readFileSync, writeFileSync } from 'node:fs';
import './bench/typescript.mjs';

const { PAYMENT_STATES, REFUND_STATES, SALE_STATES } = await import('./lib/payment/payment-state.ts');
/** The states that each page shows. */
const PAGES = {
  'docs/errors.md': SALE_STATES,
  'docs/tr/errors.md': SALE_STATES,
  'docs/refunds.md': REFUND_STATES,
  'docs/tr/refunds.md': REFUND_STATES,
};
const PICTURE = /^```mermaid\nstateDiagram-v2\n[\s\S]*?^```$/m;

const [option, printed = 'docs/errors.md'] = process.argv.slice(2);
if (option === '--print') process.stdout.write(drawn(printed));
else for (const page of Object.keys(PAGES)) writeFileSync(page, drawn(page));

function drawn(page) {
  const text = readFileSync(page, 'utf8');
  if (!PICTURE.test(text)) throw new Error(`${page} has no picture of the states to draw anew`);
  return text.replace(PICTURE, ['```mermaid', 'stateDiagram-v2', ...lines(PAGES[page]), '```'].join('\n'));
}

function lines(states) {
  const all = states.map((state) => [state, PAYMENT_STATES[state]]);
  const rows = [...all.filter(([, row]) => row.begunBy), ...all.filter(([, row]) => !row.begunBy)];
  const first = rows.flatMap(([state, { begunBy }]) => (begunBy ? [`  [*] --> ${state}: ${begunBy}`] : []));
  const arrows = rows.flatMap(([from, { to }]) =>
    Object.entries(to)
      .filter(([state]) => states.includes(state))
      .map(([state, movers]) => `  ${from} --> ${state}: ${movers.join(', ')}`),
  );
  return [...first, ...arrows];
}
