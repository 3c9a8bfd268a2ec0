import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { gzipSync } from 'node:zlib';
import { morposDialect, PaymentService, type PaymentState } from 'nestjs-card-payment';
import {
  type FaultOptions,
  type Simulator,
  type SimulatorDialect,
  startSimulator,
} from 'nestjs-card-payment/simulator';
import { holdsCard } from '../../lib/payment/card-mask.js';
import { plainText } from '../../lib/payment/plain-text.js';
import { SystemRandomness } from '../../lib/payment/randomness.js';
import { hashCallbackToken, newCallbackToken } from '../../lib/flows/callback-token.js';
import { redactResult } from '../../lib/gateway/redaction.js';
import { Attempt } from '../../lib/gateway/transport/attempt.js';
import { replyText } from '../../lib/gateway/transport/reply-text.js';
import { decodeBankPage } from '../../lib/gateway/readings/bank-page.js';
import { type Merchant, PLATFORMS, sale, startMerchant } from '../e2e/merchant.js';
import { type Secret, searchFor } from './secret-search.js';
import { SharedPool } from './shared-pool.js';

const CARD = { cardNo: '5246776356903508', expDate: '1148', cvv: '792' };
const DECODED_SECRET = 'the decoded client secret of this test';
const CREDENTIALS = {
  merchantId: '100200300',
  clientId: 'memory-test-client',
  clientSecret: Buffer.from(DECODED_SECRET).toString('base64'),
  apiKey: 'api/key+that=is;of/this-test',
};
const SECRETS: Secret[] = [
  { name: 'card number', text: CARD.cardNo },
  { name: 'card number backwards', text: [...CARD.cardNo].reverse().join('') },
  { name: 'expiry and security code', text: `"expDate":"${CARD.expDate}","cvv":"${CARD.cvv}"` },
  { name: 'client secret', text: CREDENTIALS.clientSecret },
  { name: 'decoded client secret', text: DECODED_SECRET },
  { name: 'API key', text: CREDENTIALS.apiKey },
];
/** What a bank's page may post beside what the simulator's does. */
const BANK_FIELD: Secret = { name: 'field of the callback', text: 'PaRes of this very test' };

let pool: SharedPool | null = null;

describe('shared memory', () => {
  beforeEach(() => {
    pool = new SharedPool();
  });
  afterEach(() => void taken());

  it('the search finds what is in the memory that Buffers share', () => {
    const kept = Buffer.from(`card ${CARD.cardNo}`);
    expect(leaks()).toEqual([expect.stringContaining('card number, plain')]);
    expect(kept).toHaveLength(21);
  });

  describe.each<[SimulatorDialect, (typeof PLATFORMS)[number]]>([
    ['morpos', 'express'],
    ['morpos', 'fastify'],
    ['standard', 'express'],
  ])('payments in the dialect %s, on %s', (dialect, platform) => {
    let simulator: Simulator;
    let merchant: Merchant;

    beforeAll(async () => {
      simulator = await startSimulator({ dialect, credentials: CREDENTIALS });
      merchant = await startMerchant(platform, simulator, {
        options: { background: false, timeoutMs: 1_000 },
      });
    });
    afterAll(async () => {
      await merchant.app.close();
      await simulator.close();
    });

    const buy = (amount?: string) => sale(amount, { cardDetails: { ...CARD } });

    async function authorize(amount: string, more = ''): Promise<PaymentState | undefined> {
      const { conversationId } = await merchant.payments.init3d(buy(amount));
      const { url, method, headers, body } = simulator.approve(conversationId).request;
      await post(url, { method, headers, body: `${body}${more}` });
      return (await merchant.payments.find(conversationId))?.state;
    }

    it('succeed or fail', async () => {
      const states = [];
      for (const amount of ['10.00', '10.51', '10.91']) {
        states.push((await merchant.payments.doPayment(buy(amount))).state, await authorize(amount));
      }
      // The simulator wants back what its own page sent.
      expect(await authorize('10.00', `&PaRes=${encodeURIComponent(BANK_FIELD.text)}`)).toBe('failed');
      expect(states).toEqual(['succeeded', 'succeeded', 'failed', 'failed', 'unknown', 'unknown']);
      // Fastify's own parser joins a body as a Buffer.
      expect(leaks(platform === 'express' ? [BANK_FIELD] : [])).toEqual([]);
    });

    it('are lost or refused', async () => {
      const faults: FaultOptions[] = [
        { operation: 'any', kind: 'reset' },
        { operation: 'any', kind: 'reset', at: 'before' },
        { operation: 'any', kind: 'half-reply' },
        { operation: 'any', kind: 'status', status: 500 },
        { operation: 'any', kind: 'stall' },
      ];
      for (const fault of faults) {
        simulator.fail(fault);
        expect((await merchant.payments.doPayment(buy())).state).toBe('unknown');
        simulator.fail(fault);
        await merchant.payments.init3d(buy()).catch(() => undefined);
      }
      expect(leaks()).toEqual([]);
    });
  });

  it('runs payments that are never sent, or are under way when the process ends', async () => {
    const simulator = await startSimulator({ dialect: 'morpos', credentials: CREDENTIALS });
    const merchant = await startMerchant('express', simulator, { options: { background: false } });
    const stalled = simulator.fail({ operation: 'DoPayment', kind: 'stall' });
    const running = merchant.payments.doPayment(sale('10.00', { cardDetails: { ...CARD } }));
    await stalled.played;
    await simulator.close();
    await running;
    const { payments } = merchant;
    await expect(payments.doPayment(sale('10.00', { cardDetails: { ...CARD } }))).rejects.toThrow(/sent/);
    await merchant.app.close();
    expect(leaks()).toEqual([]);
    expect(payments).toBeInstanceOf(PaymentService);
  });

  describe('nothing is left of', () => {
    it('texts that are searched for the card and the secrets', () => {
      const base64 = btoaUnpooled(`card ${CARD.cardNo}`);
      const texts = [
        base64,
        [...`card ${CARD.cardNo}`].map((sign) => sign.charCodeAt(0).toString(16)).join(''),
        [...CARD.cardNo].map((digit) => `%3${digit}`).join(''),
        `mail bounced: card ${CARD.cardNo}`,
        `secret ${CREDENTIALS.clientSecret}`,
      ];
      for (const text of texts) {
        holdsCard(text, CARD);
        plainText(text, 500, CARD);
        redactResult({ message: text, code: text } as never, { secrets: [CREDENTIALS.clientSecret], card: CARD });
      }
      expect(leaks()).toEqual([]);
    });

    it('the decoded client secret, and of what is sent in its place', () => {
      const now = new Date();
      const headers = morposDialect().headers({
        credentials: { ...CREDENTIALS, grantType: 'client_credentials', scope: 'pf_write' },
        operation: 'doPayment',
        now,
      });
      const sent = headers['x-ClientSecret'] ?? '';
      expect(sent).toHaveLength(88);
      expect(leaks([{ name: 'secret as sent', text: sent }])).toEqual([]);
    });

    it('the token of a callback', () => {
      const token = newCallbackToken(new SystemRandomness());
      hashCallbackToken(token);
      const bytes = taken();
      expect(bytes.indexOf(Buffer.from(token, 'base64url'))).toBe(-1);
      expect(bytes.indexOf(token)).toBe(-1);
    });

    it("the bank's page", () => {
      const html = '<html><body><form><input name="PaReq" value="of this very test"></form></body></html>';
      expect(decodeBankPage(btoaUnpooled(html))).toBe(html);
      expect(leaks([{ name: 'page', text: 'of this very test' }])).toEqual([]);
    });

    it('a reply, however it is encoded', () => {
      const body = gzipSync(`{"message":"card ${CARD.cardNo}"}`);
      pool?.close();
      pool = new SharedPool();
      expect(replyText(body, { 'content-encoding': 'gzip' })).toEqual({ text: `{"message":"card ${CARD.cardNo}"}` });
      expect(leaks()).toEqual([]);
    });
  });

  describe('an attempt that is over', () => {
    const BODY = `{"cardNo":"${CARD.cardNo}"}`;
    const controller = { abort: () => undefined } as never;

    /** One whose body is out. */
    function begun(timeoutMs = 60_000): { attempt: Attempt; body: Buffer; reply: Buffer } {
      const attempt = new Attempt(BODY, timeoutMs, () => true, true);
      attempt.take();
      const [body = Buffer.alloc(0)] = attempt.handOut();
      expect(body.toString()).toBe(BODY);
      expect(body.buffer.byteLength).toBe(BODY.length);
      const reply = Buffer.allocUnsafeSlow(BODY.length);
      reply.write(BODY);
      return { attempt, body, reply };
    }

    it.each<[string, (attempt: Attempt, reply: Buffer) => void]>([
      [
        'with a reply',
        (attempt, reply) => {
          attempt.handler().onResponseData?.(controller, reply);
          attempt.handler().onResponseEnd?.(controller, {});
        },
      ],
      [
        'with half a reply',
        (attempt, reply) => {
          attempt.handler().onResponseData?.(controller, reply);
          attempt.handler().onResponseError?.(controller, new Error('cut'));
        },
      ],
      [
        'by an abort that fails, with a reply that comes after it',
        (attempt, reply) => {
          const throwing = () => {
            throw new Error('cannot');
          };
          attempt.handler().onRequestStart?.({ abort: throwing } as never, {});
          attempt.lose('connection_lost');
          attempt.handler().onResponseData?.(controller, reply);
        },
      ],
    ])('%s holds neither body nor reply, and nobody else does', async (_end, finish) => {
      const { attempt, body, reply } = begun();
      finish(attempt, reply);
      await attempt.outcome;
      expect([body, reply]).toEqual([Buffer.alloc(BODY.length), Buffer.alloc(BODY.length)]);
      const buffers = Object.values(attempt)
        .flat()
        .filter((value) => Buffer.isBuffer(value));
      expect(buffers).toEqual([]);
    });

    it('holds none after its deadline', async () => {
      const { attempt, body } = begun(10);
      await attempt.outcome;
      expect(body).toEqual(Buffer.alloc(BODY.length));
    });

    it('holds none when it ended before anything was sent', async () => {
      const attempt = new Attempt(BODY, 60_000);
      const { body } = attempt as unknown as { readonly body: Buffer };
      attempt.interceptorsDone();
      await attempt.outcome;
      expect(body).toEqual(Buffer.alloc(BODY.length));
    });

    it("does not clear the replies of a host's own dispatcher", async () => {
      const attempt = new Attempt(BODY, 60_000);
      const reply = Buffer.from('{}');
      attempt.handler().onResponseData?.(controller, reply);
      attempt.handler().onResponseEnd?.(controller, {});
      expect(await attempt.outcome).toMatchObject({ reply: { text: '{}' } });
      expect(reply.toString()).toBe('{}');
    });
  });
});

/** All that was pooled during the test. */
function taken(): Buffer {
  const bytes = pool?.close() ?? Buffer.alloc(0);
  pool = null;
  return bytes;
}

function leaks(more: readonly Secret[] = []): string[] {
  const text = taken().toString('latin1');
  return searchFor([...SECRETS, ...more], [{ source: 'pool', text }]).map(
    ({ secret, form, excerpt }) => `${secret}, ${form}: ${excerpt}`,
  );
}

/** What a bank's page sends, by a client that pools nothing. */
async function post(
  url: string,
  { method, headers, body }: { method?: string; headers?: unknown; body?: unknown },
): Promise<void> {
  const request = httpRequest(url, { method, headers: headers as Record<string, string>, agent: false });
  request.end(String(body));
  const [response] = (await once(request, 'response')) as [NodeJS.ReadableStream];
  response.resume();
  await once(response, 'end');
}

function btoaUnpooled(text: string): string {
  const bytes = Buffer.allocUnsafeSlow(text.length);
  return bytes.toString('base64', 0, bytes.write(text, 'latin1'));
}
