// Prints the files of lib that one direct payment walks through: from the call to undici's `dispatch`, and from a reply
// that cannot be read to the row of the `unknown` payment; and the files whose code holds the card. By V8's own count
// of which functions are called, on the sources as they are. `npm run walk`; docs/internals/architecture.md has the
// figures.
import 'reflect-metadata';
import { readdirSync, readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { fileURLToPath } from 'node:url';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Dispatcher } from 'undici';

const { PaymentModule, PaymentService } = await import('../lib/index.ts');

const LIB = fileURLToPath(new URL('../lib/', import.meta.url));
/** What names the card, its code or its holder; the simulator's and the command line's own do not count. */
const HOLDS_CARD = /\b(?:cardDetails|cardNo|cardHolderInfo|cvv2?|CardDetailsDto)\b/i;
const SALE = {
  cardDetails: { cardNo: '4508034508034509', expDate: '12/30', cvv: '000' },
  transactionDetails: { amount: '149.90', currencyCode: 949 },
  cardHolderInfo: { cardHolderName: 'ADA LOVELACE', buyerGsm: '905551112233' },
};

const session = new Session();
session.connect();

/** The files of lib of which a function was called since this was asked last. */
async function enteredFiles() {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  return result
    .filter(({ functions }) => functions.some(({ functionName, ranges }) => functionName !== '' && ranges[0].count > 0))
    .flatMap(({ url }) => (url.startsWith('file:') ? [fileURLToPath(url)] : []))
    .filter((file) => file.startsWith(LIB))
    .map((file) => file.slice(LIB.length))
    .sort();
}

/** Answers everything with what no reader understands. */
class UnreadableGateway extends Dispatcher {
  entered = Promise.resolve([]);

  dispatch(_request, handler) {
    this.entered = enteredFiles();
    void this.entered.then(() => {
      const controller = { abort: () => undefined, pause: () => undefined, resume: () => undefined };
      handler.onRequestStart?.(controller, {});
      handler.onResponseStart?.(controller, 200, {}, 'OK');
      handler.onResponseData?.(controller, Buffer.from('<html>'));
      handler.onResponseEnd?.(controller, {});
    });
    return true;
  }
}

const gateway = new UnreadableGateway();
class Shop {}
Module({
  imports: [
    PaymentModule.forRoot({
      baseUrl: 'https://gateway.example',
      publicUrl: 'https://shop.example',
      merchantId: 'm',
      clientId: 'c',
      clientSecret: 'c2VjcmV0',
      apiKey: 'k',
      dialect: 'morpos',
      storeUrl: 'memory:',
      background: false,
      dispatcher: gateway,
    }),
  ],
})(Shop);
const app = await NestFactory.createApplicationContext(Shop, { logger: false });
const payments = app.get(PaymentService);

await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
await payments.doPayment({ ...SALE, reference: 'warm-up' });
await enteredFiles();
const { state } = await payments.doPayment({ ...SALE, reference: 'order' });
if (state !== 'unknown') throw new Error(`The payment is ${state}, not unknown: the walk leads elsewhere.`);
const after = await enteredFiles();

print('to undici’s dispatch', await gateway.entered);
print('from the reply to the row of the unknown payment', after);
print(
  'whose code holds the card',
  filesIn(LIB).filter((file) => HOLDS_CARD.test(codeOf(file))),
);
await app.close();

function print(what, files) {
  console.log(`${files.length} files ${what}:\n  ${files.join('\n  ')}\n`);
}

function filesIn(folder) {
  return readdirSync(folder, { recursive: true })
    .filter((file) => file.endsWith('.ts') && !/^(?:simulator|cli|testing|swagger)\//.test(file))
    .sort();
}

/** Without comments. */
function codeOf(file) {
  return readFileSync(LIB + file, 'utf8').replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
}
