import fc from 'fast-check';
import { type BankCallback, type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { Agent, request } from 'undici';
import { type Merchant, PLATFORMS, sale, startMerchant } from '../e2e/merchant.js';
import { inWhole } from '../rigs/extent.js';

const BATCH = 50;
const PAYMENTS_A_BATCH = 10;
/** 2,000 callbacks in all; 100,000 in the whole tests. */
const BATCHES = inWhole(500, 10);
const FORM = 'application/x-www-form-urlencoded';

type Fields = Readonly<Record<string, string>>;

/** A change of the bank's own callback. */
interface Fuzz {
  readonly which: number;
  readonly token: string | null;
  readonly last: string;
  readonly method: 'GET' | 'POST' | 'HEAD';
  readonly headers: Record<string, string>;
  readonly query: string;
  readonly body: (fields: Fields) => string | Buffer;
}

const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 40 }), fc.string({ maxLength: 40 }));
const name = fc.oneof(
  fc.constantFrom(
    'Code',
    'code',
    'conversationId',
    'ConversationId',
    'InstrumentDetail',
    'InstrumentDetail.CardType',
    'MdStatus',
    '__proto__',
    'constructor',
    'a[b]',
    'a[]',
    'toString',
  ),
  text,
);
const json = fc.oneof(
  fc.json(),
  fc.dictionary(name, fc.jsonValue({ maxDepth: 3 })).map((value) => JSON.stringify(value)),
);
const pairs = fc.array(fc.tuple(name, text), { maxLength: 80 }).map((list) => new URLSearchParams(list).toString());

const withField = (key: string, value: string) => (fields: Fields) => `${formOf(fields)}&${formOf({ [key]: value })}`;
const withMember = (key: string, value: unknown) => (fields: Fields) => JSON.stringify({ ...fields, [key]: value });
const cutAt = (at: number) => (fields: Fields) => formOf(fields).slice(0, at % formOf(fields).length);

const body: fc.Arbitrary<Fuzz['body']> = fc.oneof(
  { weight: 2, arbitrary: pairs.map((form) => () => form) },
  { weight: 2, arbitrary: json.map((value) => () => value) },
  { weight: 2, arbitrary: fc.uint8Array({ maxLength: 300 }).map((bytes) => () => Buffer.from(bytes)) },
  { weight: 1, arbitrary: fc.constant(formOf) },
  { weight: 3, arbitrary: fc.tuple(name, text).map((pair) => withField(...pair)) },
  { weight: 3, arbitrary: fc.tuple(name, fc.jsonValue()).map((pair) => withMember(...pair)) },
  { weight: 2, arbitrary: fc.nat().map(cutAt) },
);

const fuzz: fc.Arbitrary<Fuzz> = fc.record({
  which: fc.nat(PAYMENTS_A_BATCH - 1),
  token: fc.oneof({ weight: 5, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: text }),
  last: fc.oneof({ weight: 5, arbitrary: fc.constantFrom('return', 'fail') }, { weight: 1, arbitrary: text }),
  method: fc.constantFrom('POST', 'POST', 'POST', 'GET', 'HEAD'),
  headers: fc.record(
    {
      'content-type': fc.constantFrom(
        FORM,
        FORM,
        'application/json',
        'application/json',
        'text/plain',
        'multipart/form-data; boundary=x',
        `${FORM}; charset=utf-16`,
        'x',
        ';;',
      ),
      'content-encoding': fc.constantFrom('identity', 'identity', 'gzip', 'br', 'x'),
      purpose: fc.constantFrom('prefetch', 'none'),
      cookie: fc.string({ unit: 'grapheme-ascii', maxLength: 20 }),
    },
    { requiredKeys: [] },
  ),
  query: fc.oneof(
    { weight: 3, arbitrary: fc.constant('') },
    { weight: 1, arbitrary: pairs },
    { weight: 1, arbitrary: text.map(inPath) },
  ),
  body,
});

describe.each(PLATFORMS)('random callbacks on %s', (platform) => {
  describe.each(['standard', 'morpos'] as const)('with dialect %s', (dialect) => {
    let simulator: Simulator;
    let shop: Merchant;
    const connections = new Agent({ connections: 16 });

    beforeAll(async () => {
      simulator = await startSimulator({ dialect });
      shop = await startMerchant(platform, simulator);
    });
    afterAll(async () => {
      await connections.destroy();
      await shop.app.close();
      await simulator.close();
    });

    it(
      `${BATCHES * BATCH} of them: no 5xx, no Auth3d that is not owed, no success that was not approved`,
      async () => {
        const batches = fc.array(fuzz, { minLength: BATCH, maxLength: BATCH, size: 'max' });
        await fc.assert(fc.asyncProperty(batches, tryAll), { numRuns: BATCHES, endOnFailure: true });
      },
      BATCHES * 6_000,
    );

    async function tryAll(batch: readonly Fuzz[]): Promise<void> {
      simulator.reset();
      const callbacks: BankCallback[] = await Promise.all(
        Array.from({ length: PAYMENTS_A_BATCH }, async () => {
          const { conversationId } = await shop.payments.init3d(sale());
          return simulator.approve(conversationId);
        }),
      );
      // One of them is just as the bank sends it, so that each batch starts an Auth3d.
      const { url, ...request } = callbacks[0]!.request;
      const statuses = await Promise.all([
        fetch(url, { ...request, redirect: 'manual' }).then(({ status }) => status),
        ...batch.map((one) => send(one, callbacks[one.which]!)),
      ]);
      expect(statuses.filter((status) => status >= 500)).toEqual([]);

      let begun = 0;
      for (const { fields } of callbacks) {
        const { conversationId = '' } = fields;
        const payment = await shop.payments.find(conversationId);
        const isCharged = simulator.ledger.chargedTimes(conversationId) === 1;
        expect(payment?.state).toBe(isCharged ? 'succeeded' : payment?.state === 'awaiting' ? 'awaiting' : 'failed');
        if (payment?.state !== 'awaiting') begun += 1;
      }
      expect(begun).toBeGreaterThan(0);
      expect(simulator.ledger.calls('Auth3d')).toBe(begun);
      expect(simulator.ledger.violations).toEqual([]);
    }

    async function send(one: Fuzz, { url, fields }: BankCallback): Promise<number> {
      const { origin, pathname } = new URL(url);
      const [, path, token] = pathname.split('/');
      const target = `/${path}/${one.token === null ? token : inPath(one.token)}/${inPath(one.last)}`;
      const query = one.method === 'GET' && one.query === '' ? '' : `?${one.query}`;
      const isBodiless = one.method !== 'POST';
      const answer = await request(origin + target + query, {
        method: one.method,
        headers: isBodiless ? { ...one.headers, 'content-type': null as never } : one.headers,
        body: isBodiless ? undefined : one.body(fields),
        dispatcher: connections,
      });
      await answer.body.dump();
      return answer.statusCode;
    }
  });
});

function formOf(fields: Fields): string {
  return new URLSearchParams(fields).toString();
}

/** Any text as it may stand in a path, but for halves of surrogate pairs. */
function inPath(value: string): string {
  return encodeURIComponent(value.replace(/\p{Cs}/gu, ''));
}
