// Draws the picture of the states in docs/errors.md from their table: `npm run states`. `--print` prints the page
// instead.
import { readFileSync, writeFileSync } from 'node:fs';
import './bench/typescript.mjs';

const { PAYMENT_STATES } = await import('./lib/payment/payment-state.ts');
const PAGE = 'docs/errors.md';
const PICTURE = /^```mermaid\nstateDiagram-v2\n[\s\S]*?^```$/m;

const page = readFileSync(PAGE, 'utf8');
if (!PICTURE.test(page)) throw new Error(`${PAGE} has no picture of the states to draw anew`);
const drawn = page.replace(PICTURE, ['```mermaid', 'stateDiagram-v2', ...lines(), '```'].join('\n'));
if (process.argv.includes('--print')) process.stdout.write(drawn);
else writeFileSync(PAGE, drawn);

function lines() {
  const states = Object.entries(PAYMENT_STATES);
  const first = states.flatMap(([state, { begunBy }]) => (begunBy ? [`  [*] --> ${state}: ${begunBy}`] : []));
  const arrows = states.flatMap(([from, { to }]) =>
    Object.entries(to).map(([state, movers]) => `  ${from} --> ${state}: ${movers.join(', ')}`),
  );
  return [...first, ...arrows];
}
