import { answerTo } from '../../bench/payments/gateway-answers.js';
import { type MockGateway, startMockGateway } from '../../bench/payments/mock-gateway.js';
import { runSubject } from '../../bench/payments/run-subject.js';
import { AMOUNT, bankFields, CARD, doPaymentBody, HOLDER, RETURN_URLS } from '../../bench/payments/sale.js';
import { Stores } from '../../bench/payments/stores.js';
import { type Subject, SUBJECTS } from '../../bench/payments/subjects.js';
import { inWhole } from '../rigs/extent.js';

const CALLS = 3;
/** In the short tests, one for each database stands for those that differ by their store alone. */
const ON_DATABASES = inWhole(
  SUBJECTS.map(({ name }) => name),
  ['sqlite-handler', 'mariadb', 'callback-postgres'],
);
const RUN = SUBJECTS.filter((subject) => isFast(subject) || ON_DATABASES.includes(subject.name));
const CALLERS = RUN.filter(({ measures }) => measures === 'calls');
const CALLBACKS = RUN.filter(({ measures }) => measures === 'callbacks');
/** How far sizes may be apart for the work to be the same. */
const TOLERANCE = 0.15;

interface Request {
  readonly path: string;
  readonly body: string;
}

let gateway: MockGateway;
let requests: Request[];
const stores = new Stores();

describe('subjects', () => {
  beforeAll(async () => {
    gateway = await startMockGateway((path, body) => {
      requests.push({ path, body });
      return answerTo(path, body);
    });
  });
  beforeEach(() => {
    requests = [];
  });
  afterAll(async () => {
    await gateway.close();
    await stores.close();
  });

  it.each(CALLERS)('$name sends each sale once, whole, and keeps its connections', async (subject) => {
    const before = gateway.connections();
    const size = JSON.stringify({ ...doPaymentBody(0), sign: 'A'.repeat(44) }).length;
    await run(subject);
    expect(requests).toHaveLength(CALLS);
    // A client may call again before it has put the connection back.
    expect(gateway.connections() - before).toBeLessThan(CALLS);
    const path = requests[0]!.path;
    for (const { body } of requests) {
      const sent = decodeURIComponent(body);
      for (const value of [CARD.cardNo, CARD.cvv, RETURN_URLS.returnUrl.split('/direct/')[0]!, HOLDER.buyerGsm]) {
        expect(sent).toContain(value);
      }
      expect(sent.replaceAll('.', '')).toContain(AMOUNT.replace('.', ''));
      expect(Math.abs(sent.length - size) / size).toBeLessThan(TOLERANCE);
      if (path.endsWith('DoPayment')) {
        expect(Object.keys(flat(JSON.parse(body))).sort()).toEqual(
          Object.keys(flat({ ...doPaymentBody(0), sign: '' })).sort(),
        );
      }
    }
    expect(new Set(requests.map(({ body }) => /BEN\d{17}|[A-Z0-9]{20}/.exec(body)?.[0])).size).toBe(CALLS);
  });

  it.each(CALLBACKS)('$name passes on what the bank sent, once', async (subject) => {
    await run(subject);
    expect(auth3d()).toHaveLength(CALLS);
    for (const { body } of auth3d()) {
      const { conversationId, ...sent } = flat(JSON.parse(body));
      const { conversationId: _id, ...expected } = bankFields('');
      expect(sent).toEqual(expected);
      expect(conversationId).toHaveLength(20);
    }
    expect(new Set(auth3d().map(({ body }) => body)).size).toBe(CALLS);
  });
});

async function run(subject: Subject): Promise<void> {
  const store = await stores.empty(subject.store);
  const setup = { gatewayUrl: gateway.url, storeUrl: store.url, packageFolder: process.cwd() };
  try {
    await runSubject(subject, setup, { warmUp: 0, calls: CALLS, atOnce: 1 });
  } finally {
    await store.remove();
  }
}

function auth3d(): Request[] {
  return requests.filter(({ path }) => path.endsWith('/Auth3d'));
}

/** Subjects differ by their store in nothing that these tests look at. */
function isFast({ store = 'memory' }: Subject): boolean {
  return store === 'memory';
}

/** Fields of objects by their dotted names. */
function flat(value: unknown, prefix = ''): Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return { [prefix.slice(0, -1)]: value };
  return Object.assign({}, ...Object.entries(value).map(([name, item]) => flat(item, `${prefix}${name}.`))) as Record<
    string,
    unknown
  >;
}
