import { arrow, box, svgFile, text } from './svg.js';

/** The linter's own list, which has no types. */
const { LAYERS } = (await import(new URL('../../../.dependency-cruiser.js', import.meta.url).href)) as {
  readonly LAYERS: readonly (readonly string[])[];
};

/** What is in each folder of lib, in a few words. */
const WORDS: Readonly<Record<string, string>> = {
  cli: 'the command line',
  schematics: 'nest add, nest g',
  desk: 'pages for staff',
  'the root files': 'PaymentModule, what is exported',
  module: 'providers, tokens, life cycle, start-up report',
  testing: '',
  health: '',
  swagger: '',
  'payment.service.ts': 'PaymentService',
  simulator: 'a gateway and a bank; imports only the HTML template',
  http: 'callback, exception filter, pages that buyers see',
  reconciler: 'what is due: inquiries, expiry, purge',
  operations: 'direct, 3D, hosted, refund, inquiry, staff',
  settlement: 'readers, writer, outcomes, owed writes',
  events: '@OnPayment, @OnRefund, dispatcher',
  options: 'options and environment, validated',
  dto: 'what comes in, validated',
  gateway: 'client, dialects, readings, callback fields, transport',
  store: 'ledger and outbox in memory, SQL',
  errors: 'all of them extend PaymentError',
  payment: 'states, amount, masking, events',
  telemetry: 'logs, spans, metrics',
  runtime: 'clock, time-outs, randomness',
};

const [WIDTH, ROW, GAP] = [560, 36, 14];

/** The folders of lib, of which each imports only from those below it; from the list that the linter checks. */
export function layersPicture(): string {
  const rows = LAYERS.map((folders, index) => {
    const y = 14 + index * (ROW + GAP);
    const width = (WIDTH - 28 - 8 * (folders.length - 1)) / folders.length;
    const boxes = folders.map((folder, place) => {
      const words = WORDS[folder];
      if (words === undefined) throw new Error(`lib/${folder} has no words in the diagram of the layers`);
      const x = 14 + place * (width + 8);
      if (words === '') return `${box(x, y, width, ROW)}\n${text(x + width / 2, y + 23, folder, 'strong')}`;
      const name = text(x + 14, y + 23, folder, 'strong', 'start');
      return `${box(x, y, width, ROW)}\n${name}\n${text(x + width - 14, y + 23, words, 'small', 'end')}`;
    });
    const down =
      index > 0
        ? [
            arrow([
              [WIDTH / 2, y - GAP],
              [WIDTH / 2, y - 1],
            ]),
          ]
        : [];
    return [...boxes, ...down].join('\n');
  });
  return svgFile(WIDTH, 14 + LAYERS.length * (ROW + GAP), rows.join('\n'));
}
