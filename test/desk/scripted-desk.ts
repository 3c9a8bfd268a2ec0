import { jest } from '@jest/globals';
import { ForbiddenException, HttpException, UnauthorizedException } from '@nestjs/common';
import { type PaymentService, paymentToken } from 'nestjs-card-payment';
import { type FaultHandle, type Simulator, type SimulatorOptions, startSimulator } from 'nestjs-card-payment/simulator';
import { TestClock } from 'nestjs-card-payment/testing';
import type { PaymentRecord } from '../../lib/payment/payment.js';
import type { Platform } from '../e2e/merchant.js';
import { ODD } from '../rigs/odd-answers.js';
import { linesOf, unescaped } from '../rigs/page-text.js';
import type { Script } from '../rigs/played-scripts.js';
import { sale } from '../rigs/sale.js';
import { wrapped } from '../rigs/wrapped.js';
import { msOf } from '../scripts/transcript.js';
import { ACTS, fingerprintOf } from '../../lib/desk/acts.js';
import { DeskPage, type DeskShop, fail, Orders, secondAccount, StaffAccess, startDesk } from './desk-shop.js';

type Named = Readonly<Record<string, string>>;
type Step = (words: readonly string[], named: Named, rest: string) => unknown;
/** What a script's step `given …` means. */
const GIVEN: Readonly<Record<string, SimulatorOptions>> = {
  'a desk of its own': {},
  'a gateway without refunds': { dialect: 'standard' },
};
/** Of the lines that a page has no more, so many are told. */
const MAX_GONE = 12;
const START = new Date('2026-03-01T12:00:00.000Z');
/** What the gateway numbers, however many there were before. */
const NUMBERED = /\b(ORD|7|60601\d|)0000\d+\b/g;

const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};
/** What the host's code may throw. */
const THROWN: Readonly<Record<string, unknown>> = {
  error: new Error('the password is geheim'),
  text: 'geheim',
  401: new UnauthorizedException('geheim'),
  403: new ForbiddenException('geheim'),
  429: new HttpException('geheim', 429),
  302: new HttpException('geheim', 302),
  503: new HttpException('geheim', 503),
};

/** A desk for scripts: what is on its pages, what the host records, and what the gateway is asked for, as text. */
export class ScriptedDesk {
  private lines: string[] = [];
  /** `id1` or `refund1` by the id of the payment or refund. */
  private names = new Map<string, string>();
  private page!: DeskPage;
  /** The pages whose forms were sent, to which Back leads. */
  private senders: DeskPage[] = [];
  /** The lines of the page of each kind that was shown first of all, and last in this script. */
  private first = new Map<string, readonly string[]>();
  private last = new Map<string, readonly string[]>();
  private headers: Named = {};
  private stalled: FaultHandle | undefined;
  private begun: Promise<DeskPage> | undefined;
  private keys = 0;
  /** How many of the gateway's requests were told. */
  private asked = 0;

  private constructor(
    private readonly simulator: Simulator,
    private readonly shop: DeskShop,
    private readonly clock: TestClock,
  ) {}

  static async start(platform: Platform, given = 'a desk of its own'): Promise<ScriptedDesk> {
    const clock = new TestClock(START);
    const timeless = { clock: () => clock.now(), timestampToleranceMs: Infinity };
    const simulator = await startSimulator({
      dialect: 'morpos',
      inquiryKnowsRefunds: true,
      ...timeless,
      ...GIVEN[given],
    });
    const metadata = { imports: [secondAccount(simulator)], providers: [Orders] };
    const shop = await startDesk(platform, simulator, { metadata, clock });
    return new ScriptedDesk(simulator, shop, clock);
  }

  async close(): Promise<void> {
    await this.shop.app.close();
    await this.simulator.close();
  }

  /**
   * Plays a script, and writes below its steps what came of them.
   *
   * @param first the page of each kind that was shown first, to which the first one of a script is compared
   */
  async play({ title, steps }: Script, first: Map<string, readonly string[]>): Promise<string> {
    this.clock.set(START);
    // What pages say of the time is by the system's clock.
    jest.spyOn(Date, 'now').mockImplementation(() => this.clock.now().getTime());
    this.lines = [title];
    this.names = new Map();
    this.first = first;
    this.last = new Map();
    this.headers = {};
    StaffAccess.reset();
    this.simulator.reset();
    this.asked = 0;
    for (const step of steps) {
      this.lines.push(`  ${step}`);
      await this.clock.advance(1_000);
      await this.call(step).catch((error: Error) => {
        if ('matcherResult' in error) throw error;
        this.tell(error.message);
      });
      await this.nameRefunds();
      this.tellRest();
    }
    return this.lines.join('\n');
  }

  private readonly steps: Readonly<Record<string, Step>> = {
    given: () => undefined,
    // What happens without the desk. `pay 149.90`, `lose`: the answer never comes, `odd larger-amount`.
    pay: ([amount = '149.90'], named) => this.pay(amount, named),
    lose: async ([amount = '149.90'], { times = '1', ...named }) => {
      this.simulator.fail({ operation: 'DoPayment', kind: 'close', at: 'after', times: Number(times) });
      await this.pay(amount, { times, ...named });
    },
    odd: async ([kind = '', amount = '149.90'], named) => {
      this.simulator.fail({ operation: 'DoPayment', ...ODD[kind as keyof typeof ODD] });
      await this.pay(amount, named);
    },
    hosted: async () => {
      const { reference, transactionDetails } = sale();
      const { payment } = await this.shop.payments.startHosted({ reference, transactionDetails });
      this.name('id', payment.conversationId);
      this.name('order', reference!);
    },
    refund: ([conversationId = '', amount], named) =>
      this.shop.operations.refund({ conversationId, amount, by: 'Bora', ...named }),
    record: async ([conversationId = '', amount = ''], { times = '1', ...named }) => {
      const refund = { conversationId, amount, note: 'seen', by: 'Bora', ...named };
      for (let count = Number(times); count > 0; count -= 1) {
        this.keys += 1;
        await this.shop.operations.recordRefund({ ...refund, idempotencyKey: `key${this.keys}` });
      }
    },
    inquire: ([id = '']) => this.shop.operations.inquire(id, { by: 'Bora' }),
    wait: ([time = '']) => this.clock.advance(msOf(time)),
    acknowledge: ([id = '']) => this.shop.store.acknowledge('default', 'Orders.paid', `${id}:2`),
    retry: ([id = '', error = '']) =>
      fail(this.shop.store, id, { attempts: 1, error, retryInMs: 60_000, parked: false }),
    park: ([id = '', error = '']) => fail(this.shop.store, id, { attempts: 15, error, retryInMs: 0, parked: true }),
    /** `newer preauthorized`: a newer release writes a state that this one does not know. */
    newer: async ([id = '', state]) => {
      const record = (await this.shop.store.find('default', id))!;
      const newer = { ...record, state, version: record.version + 1 } as unknown as PaymentRecord;
      expect(await this.shop.store.replace(newer, record)).toBe('replaced');
    },
    gateway: ([operation = '', kind = '']) => {
      if (operation === 'gone') return this.simulator.close();
      this.stalled = this.simulator.fail({ operation, kind, ...(kind === 'close' && { at: 'after' }) } as never);
      return undefined;
    },

    // Who looks: `as bora`, `in tr`, `staff ada {"name":"Ada","rights":["look"]}`.
    as: ([name = '']) => void (this.headers = { ...this.headers, 'x-staff': name }),
    in: ([language = '']) => void (this.headers = { ...this.headers, 'accept-language': language }),
    staff: ([name = ''], _named, rest) => {
      const staff = { ...StaffAccess.staff, [name]: JSON.parse(rest.slice(name.length)) as never };
      StaffAccess.staff = staff;
    },
    'staff-throws': ([name = '']) => void (StaffAccess.thrown = { it: THROWN[name] }),
    'while-recording': (words, _named, rest) => {
      StaffAccess.whileRecording = async () => {
        StaffAccess.whileRecording = () => undefined;
        if (words[0]! in THROWN) throw THROWN[words[0]!];
        await this.call(rest);
      };
    },

    open: async ([path = '']) => this.show(await DeskPage.get(`${this.shop.url}/desk${path}`, this.headers)),
    /** Sends the form of an act as its page does: to be confirmed, where it has to be. */
    send: async ([act = ''], typed) => this.show(await this.leave().send(act, typed)),
    /** Sends it to be done at once: `do inquire sec-fetch-site:- origin:null`, `do resolve at=id2`. */
    do: async ([act = '', ...headers], { at, ...given }) => {
      const typed = given['shown'] === 'now' ? { ...given, shown: await this.fingerprint() } : given;
      const { url, fields } = this.leave().form(act);
      const to = at === undefined ? url : url.replace(/payments\/.*/, `payments/${at.replace(/(?=\?|$)/, '/acts')}`);
      await this.post(to.replace('/review', '/acts'), { ...fields, ...typed }, headers);
    },
    back: () => void (this.page = this.senders.pop()!),
    /** Every act, with the fields of a form of this page: to be confirmed, and to be done at once. */
    'do-all': async () => {
      const { url, fields } = this.page.form(this.page.acts[0]!);
      const typed = { ...fields, amount: '1', state: 'failed', note: 'x', refundId: 'X' };
      const requests = Object.keys(ACTS).flatMap((act) => ['review', 'acts'].map((path) => [act, path] as const));
      await this.each(requests, ([act = '', path = '']) => {
        return DeskPage.post(url.replace(/acts|review/, path), { ...typed, act }, this.headers);
      });
    },
    yes: async () => this.show(await this.page.send(this.page.acts[0]!)),
    /** A request whose answer the gateway holds back, and what comes of it. */
    begin: async ([act = '']) => {
      this.begun = this.page.send(act);
      await this.stalled?.played;
    },
    end: async () => {
      this.stalled?.release();
      await this.show(await this.begun!);
    },
    /** A request as it is written here: `post /deliveries/replay handlerId=h`. */
    post: ([path = '', ...headers], { body, ...fields }) =>
      this.post(`${this.shop.url}/desk${path}`, body ?? fields, headers),
    next: async () => {
      const [, next = ''] = /href="([^"]*after=[^"]*)"/.exec(this.page.html) ?? [];
      await this.show(await DeskPage.get(this.page.at(unescaped(next)), this.headers));
    },
    'each-route': async ([id = '']) => {
      const posts = [`/payments/${id}/review`, `/payments/${id}/acts`, '/deliveries/replay'];
      const gets = ['', '/payments', `/payments/${id}`, '/deliveries', '/desk.css', ...posts];
      const requests = [...gets.map((path) => ['GET', path]), ...posts.map((path) => ['POST', path])] as const;
      const form = { act: 'inquire', shown: 'x', handlerId: 'h', eventId: 'e:1' };
      await this.each(requests, ([method = '', path = '']) => {
        const url = `${this.shop.url}/desk${path}`;
        return method === 'GET' ? DeskPage.get(url, this.headers) : DeskPage.post(url, form, this.headers);
      });
    },
  };

  /** Tells what requests are answered with, those with the same answer in one line. */
  private async each(
    requests: readonly (readonly string[])[],
    send: (request: readonly string[]) => Promise<DeskPage>,
  ): Promise<void> {
    const answers = new Map<string, string[]>();
    for (const request of requests) {
      const { status, html } = await send(request);
      const text = `${status} ${linesOf(html)[0]?.split(' · ')[0]?.slice(0, 60) ?? ''}`.trim();
      answers.set(text, [...(answers.get(text) ?? []), request.join(' ')]);
    }
    for (const [text, alike] of answers) this.tell(`${text}: ${alike.join(', ')}`);
  }

  /** @param given headers, `name:value`; `{own}` and `{host}` are the desk's, and `-` leaves the one of forms out */
  private async post(url: string, form: Named | string, given: readonly string[]): Promise<void> {
    const { host, origin } = new URL(this.shop.url);
    const pairs = given.map((word) => word.replace('{own}', origin).replace('{host}', host).split(/:(.*)/s));
    const headers = { 'sec-fetch-site': 'same-origin', ...this.headers, ...(Object.fromEntries(pairs) as Named) };
    if (headers['sec-fetch-site'] === '-') Reflect.deleteProperty(headers, 'sec-fetch-site');
    await this.show(await DeskPage.send(url, typeof form === 'string' ? form : new URLSearchParams(form), headers));
  }

  private async call(step: string): Promise<unknown> {
    const meant = step.replace(/\b(id|refund|order)\d+(?!\d)/g, (name) => this.idOf(name));
    const [verb = ''] = meant.split(' ', 1);
    const rest = meant.slice(verb.length).trim();
    const words = [...rest.matchAll(/(?:([\w[\]]+)=)?("(?:[^"\\]|\\.)*"|[^\s"]*)/g)].filter(([word]) => word !== '');
    const value = (text = '') => (text.startsWith('"') ? (JSON.parse(text) as string) : text);
    const named = words.flatMap(([, name, text]) => (name === undefined ? [] : [[name, value(text)] as const]));
    const others = words.flatMap(([, name, text]) => (name === undefined ? [value(text)] : []));
    return await this.steps[verb]!(others, Object.fromEntries(named), rest);
  }

  /** What a form of the payment would say of it now, if there was one. */
  private async fingerprint(): Promise<string> {
    const [id = ''] = this.names.keys();
    return fingerprintOf(await this.shop.operations.details(id));
  }

  private leave(): DeskPage {
    this.senders.push(this.page);
    return this.page;
  }

  private async pay(amount: string, { account, installments = '1', times = '1', ...named }: Named): Promise<void> {
    const { app, payments } = this.shop;
    const service = account === undefined ? payments : app.get<PaymentService>(paymentToken(account));
    for (let count = Number(times); count > 0; count -= 1) {
      await this.clock.advance(1_000);
      const asked = sale(amount, named);
      const details = { ...asked.transactionDetails, installmentCount: Number(installments) };
      const { conversationId } = await service.doPayment({ ...asked, transactionDetails: details });
      this.name('id', conversationId);
      if (named.reference === undefined) this.name('order', asked.reference!);
    }
  }

  /** What a request was answered with. A redirect is followed; of a page, what the one before it did not say. */
  private async show(page: DeskPage): Promise<void> {
    this.page = page;
    expect(Object.fromEntries(page.headers)).toMatchObject(PAGE_HEADERS);
    expect(page.html).not.toMatch(/<script| style=| on\w+=/i);
    const location = page.headers.get('location');
    if (location !== null) {
      this.tell(`${page.status} → ${location}`);
      return this.show(await page.follow());
    }
    const html = page.html.replace(/(?<=(?:href|action)=")[^"#][^"]*/g, (to) => this.path(unescaped(to)));
    await this.nameRefunds();
    const now = linesOf(html).map((line) => this.renamed(line));
    if (!html.includes('<header>')) return this.tell(`${page.status} ${now.slice(1).join(' · ')}`);
    const path = now[0]!.startsWith('title: Please confirm') ? 'confirm' : this.path('').replace(/s\/.*|\?.*/, '');
    const kind = `${/lang="\w+"/.exec(html)?.[0]} ${path}`;
    const before = this.last.get(kind) ?? this.first.get(kind) ?? [];
    this.last.set(kind, now);
    if (!this.first.has(kind)) this.first.set(kind, now);
    this.tell(String(page.status));
    for (const line of without(now, before)) this.tell(`+ ${line}`);
    const gone = without(before, now).map((line) => (line.length > 40 ? `${line.slice(0, 36)}…` : line));
    const more = gone.splice(MAX_GONE).length;
    if (gone.length > 0) this.tell(`- ${gone.join(' · ')}${more > 0 ? ` · and ${more} more` : ''}`);
  }

  /** What was recorded, and what the gateway was asked for, since the last step. */
  private tellRest(): void {
    for (const { staff, act, account, conversationId, details } of StaffAccess.recorded.splice(0)) {
      const given = Object.entries(details).map(([name, value]) => `${name}=${value}`);
      this.tell(`recorded: ${staff} ${act} ${account} ${conversationId} ${given.join(' ')}`.trim());
    }
    const asked = this.simulator.requests.slice(this.asked).map(({ operation }) => operation);
    const times = asked.length > 2 ? ` (${asked.length} in all)` : '';
    if (asked.length > 0) this.tell(`the gateway was asked for: ${[...new Set(asked)].join(', ')}${times}`);
    this.asked += asked.length;
  }

  /** Writes a line, and more if it is long. */
  private tell(text: string): void {
    this.lines.push(wrapped(this.renamed(text), '    '));
  }

  /** With names for ids, and without what differs from run to run. */
  private renamed(text: string): string {
    const named = [...this.names].reduce((left, [id, name]) => left.replaceAll(id, name), text);
    return named
      .replace(NUMBERED, '$1…')
      .replace(/in (?:\d+ seconds|1 minute)/, 'in some seconds')
      .replace(/after=\w+/, 'after=…');
  }

  /** Where a link on the page leads. */
  private path(to: string): string {
    const { pathname, search } = new URL(to, this.page.url);
    return pathname + search;
  }

  private name(kind: 'id' | 'refund' | 'order', id: string): void {
    const count = [...this.names.values()].filter((name) => name.startsWith(kind)).length;
    if (!this.names.has(id)) this.names.set(id, `${kind}${count + 1}`);
  }

  private idOf(name: string): string {
    return [...this.names].find(([, known]) => known === name)?.[0] ?? name;
  }

  private async nameRefunds(): Promise<void> {
    for (const [id, name] of this.names) {
      if (!name.startsWith('id')) continue;
      for (const { refundId } of await this.shop.payments.refunds(id).catch(() => [])) this.name('refund', refundId);
    }
  }
}

/** The lines that are not among the others, as often as there are more of them. */
function without(lines: readonly string[], others: readonly string[]): string[] {
  const left = [...others];
  return lines.filter((line) => {
    const index = left.indexOf(line);
    if (index >= 0) left.splice(index, 1);
    return index < 0;
  });
}
