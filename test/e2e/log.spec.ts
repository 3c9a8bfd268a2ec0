import { Injectable, type Provider } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import {
  type GatewayDialect,
  MemoryPaymentStore,
  OnPayment,
  type PaymentOptions,
  standardDialect,
} from 'nestjs-card-payment';
import { loggerInto } from '../operations/log-lines.js';
import { ExpectedTexts } from '../rigs/expected-texts.js';
import { closedPort } from '../rigs/sockets.js';
import { interceptCalls } from '../rigs/store-calls.js';
import { wrapped } from '../rigs/wrapped.js';
import { bring, type Merchant, sale, useMerchants } from './merchant.js';

const TEXTS = new ExpectedTexts(import.meta.url);
const CARD = '4508034508034509';
/** What a merchant may put into an error. */
const TOLD = `card ${CARD}, 1236, 000`;
const SECRETS = /4508034508034509|1236|\b000\b|wrong|password/;

/** Something that is wrong at the gateway's side or in the merchant's own code. */
interface Trouble {
  readonly options?: PaymentOptions;
  readonly provider?: Provider;
  /** By default a direct payment. */
  readonly calls?: readonly Call[];
}

type Call = (merchant: Merchant) => Promise<unknown>;

@Injectable()
class FailingOrders {
  @OnPayment('succeeded')
  paid(): void {
    throw new TypeError(TOLD, { cause: new Error('no route to the database') });
  }
}

@Injectable()
class FailingMail {
  @OnEvent('payment.succeeded', { suppressErrors: false })
  sent(): Promise<void> {
    return Promise.reject(new Error(TOLD));
  }
}

const doPayment: Call = ({ payments }) => payments.doPayment(sale());
const startPage: Call = ({ payments }) => payments.init3d(sale());

const thrower = (given?: unknown): never => {
  throw new Error(`${TOLD} ${typeof given === 'string' ? given : ''}`);
};
const own: GatewayDialect = { ...standardDialect({ signer: () => 'signed' }), name: 'own' };

function ofDialect(part: Partial<GatewayDialect>): () => Trouble {
  return () => ({ options: { dialect: { ...own, ...part } } });
}

/** The standard dialect, with another part of DoPayment. */
function ofDoPayment(part: object): () => Trouble {
  const { operations } = own;
  return ofDialect({ operations: { ...operations, doPayment: { ...operations.doPayment, ...part } } });
}

describe('the log', () => {
  const log: string[] = [];
  const records: unknown[] = [];
  const merchants = { morpos: useMerchants(), standard: useMerchants({ dialect: 'standard' }) };
  const { morpos, standard } = merchants;
  let isStoreDown = false;
  const store = interceptCalls(new MemoryPaymentStore(), ({ method, proceed }) =>
    isStoreDown && method.startsWith('find') ? Promise.reject(new Error('password=secret')) : proceed(),
  );

  const callback: Call = async ({ payments }) => {
    const { conversationId } = await payments.init3d(sale());
    return bring(standard.simulator.approve(conversationId));
  };

  /** Each as somebody meets it who tries the module for the first time, or who has a mistake in a function. */
  const TROUBLES: Readonly<Record<string, () => Trouble | Promise<Trouble>>> = {
    'a wrong clientSecret': () => ({ options: { clientSecret: 'wrong' }, calls: [doPayment, startPage] }),
    'a wrong apiKey': () => ({ options: { apiKey: 'wrong' } }),
    'a path in baseUrl': () => ({ options: { baseUrl: `${morpos.simulator.url}/v1` } }),
    'a port that is closed': async () => ({
      options: { baseUrl: `http://127.0.0.1:${await closedPort()}` },
      calls: [doPayment, startPage],
    }),
    'a name that does not exist': () => ({ options: { baseUrl: 'https://nonexistent.invalid' } }),
    'a server without TLS': () => ({ options: { baseUrl: morpos.simulator.url.replace('http:', 'https:') } }),
    'a decline': () => ({ calls: [({ payments }) => payments.doPayment(sale('10.51'))] }),
    'a store that fails': () => ({
      options: { store },
      calls: [
        () => Promise.resolve((isStoreDown = true)),
        ({ payments }) => payments.find('X'),
        ({ payments }) => payments.findByReference('X'),
        ({ payments }) => payments.inquire('X'),
        // No more than three of a kind a minute are logged.
        ...Array<Call>(9).fill(({ url }) => fetch(`${url}/payments/${'x'.repeat(43)}/return`)),
      ],
    }),
    'a handler that throws': () => ({ provider: FailingOrders }),
    'a plain listener that rejects': () => ({ provider: FailingMail }),
    'a signer that throws, and was given the card': () => ({
      options: { dialect: 'standard', signer: (fields) => thrower(JSON.stringify(fields)) },
    }),
    "a body of the host's dialect that throws": ofDoPayment({ body: thrower }),
    "headers of the host's dialect that throw": ofDialect({ headers: thrower }),
    'what reads an answer, and throws': ofDoPayment({ read: thrower }),
    'beforeAuth3d and the function for an address, which throw': () => ({
      options: { beforeAuth3d: thrower, failureUrl: thrower },
      calls: [callback],
    }),
  };

  async function linesOf(make: () => Trouble | Promise<Trouble>): Promise<string[]> {
    const { options = {}, provider, calls = [doPayment] } = await make();
    const shops = options.dialect || provider || calls.includes(callback) ? standard : morpos;
    const merchant = await shops.start('express', {
      options: { ...options, background: false },
      metadata: { providers: provider ? [provider] : [] },
      application: { logger: loggerInto(log, records) },
    });
    log.length = records.length = 0;
    const thrown: string[] = [];
    for (const call of calls) await call(merchant).catch((error: { code: string }) => thrown.push(error.code));
    isStoreDown = false;
    // Plain listeners are called a moment later.
    await merchant.payments.reconcile();
    for (let turns = 0; turns < 20; turns += 1) await new Promise(setImmediate);
    expect(log.join('\n') + JSON.stringify(records)).not.toMatch(SECRETS);
    await shops.close();
    const text = log.map((line, i) => line + (line.startsWith('log ') ? '' : fieldsOf(records[i])));
    return [...text, ...(thrown.length > 0 ? [`throws ${thrown.join(', ')}`] : [])].map(named);
  }

  it('says what is wrong, and where', async () => {
    const texts: string[] = [];
    for (const [title, trouble] of Object.entries(TROUBLES)) {
      texts.push([title, ...(await linesOf(trouble)).map((line) => wrapped(line, '  '))].join('\n'));
    }
    TEXTS.expect('log.txt', `${texts.join('\n\n')}\n`);
  });
});

/** What a JSON logger shows besides the line. */
function fieldsOf(record: unknown): string {
  const { message: _message, ...fields } = Object(record) as Readonly<Record<string, unknown>>;
  return typeof record === 'object' ? ` (${Object.keys(fields).join(', ')})` : '';
}

/** Without what differs from run to run. */
function named(line: string): string {
  return line
    .replace(/127\.0\.0\.1:\d+/g, 'GATEWAY')
    .replace(/\b[0-9A-Z]{20}\b/g, 'ID')
    .replace(/order-\d+/g, 'ORDER')
    .replace(/in \d+ ms|after \d+ ms/g, 'after … ms')
    .replace(/ENOTFOUND|EAI_AGAIN/g, 'ENOTFOUND')
    .replace(/Object\.thrower( \[as \w+\])?/g, 'thrower')
    .replace(/\(?\S*\/log\.spec\.ts:\d+:\d+\)?/g, '(log.spec.ts)');
}
