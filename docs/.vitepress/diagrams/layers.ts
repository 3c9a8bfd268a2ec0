import { arrow, box, svgFile, text } from './svg.js';

/** The linter's own list, which has no types. */
const { LAYERS } = (await import(new URL('../../../.dependency-cruiser.js', import.meta.url).href)) as {
  readonly LAYERS: readonly (readonly string[])[];
};

/** What is in each folder of lib, in a few words. */
const WORDS: Readonly<Record<string, string>> = {
  'the root files': 'PaymentModule, PaymentService',
  cli: 'the command line, on the module itself',
  testing: '',
  health: '',
  swagger: '',
  simulator: 'a gateway and a bank; imports nothing else',
  callback: 'HTTP only',
  'flows/background': 'reconciler, inquiries, due payments',
  flows: 'direct, 3D, hosted, refund, inquiry, operator',
  'flows/settling': 'writer, settlement, owed writes, fences',
  outbox: '@OnPayment, @OnRefund, dispatcher',
  process: 'what is in flight, the store’s clock',
  options: 'options and environment, validated',
  dto: 'what comes in, validated',
  gateway: 'client, dialects, readings, callback fields, transport',
  store: 'ledger and outbox in memory, SQL',
  errors: 'all of them extend PaymentError',
  payment: 'states, amount, masking, clock',
  telemetry: 'logs, spans, metrics',
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
