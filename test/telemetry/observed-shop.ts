import { type INestApplication, Controller, Get, Injectable } from '@nestjs/common';
import { HealthCheck, HealthCheckService, TerminusModule } from '@nestjs/terminus';
import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { MemoryPaymentStore, OnPayment, OnRefund, PaymentModule, type PaymentOptions } from 'nestjs-card-payment';
import { PaymentHealthIndicator, type PaymentHealthLimits } from 'nestjs-card-payment/health';
import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { TestClock } from 'nestjs-card-payment/testing';
import { bring, type Merchant, sale, simulatorOptions, startMerchant } from '../e2e/merchant.js';
import { wrapped } from '../rigs/wrapped.js';
import { until } from '../services/until.js';
import { TelemetryRecorder } from './recorder.js';

/** What a handler throws, and no span may show. */
export const TOLD = 'card 4508034508034509';
const SECONDS = 5;

@Injectable()
class Orders {
  isFailing = false;
  isBegun = false;
  release = (): void => undefined;
  /** What the handler waits for. */
  wait = Promise.resolve();

  @OnPayment('succeeded', { id: 'mail' })
  async paid(): Promise<void> {
    trace.getActiveSpan()?.setAttribute('shop', 'its handler');
    this.isBegun = true;
    if (this.isFailing) throw new Error(TOLD);
    await this.wait;
  }

  @OnRefund('failed', { id: 'money-back' })
  notRefunded(): void {}
}

@Controller('health')
class HealthController {
  limits: PaymentHealthLimits & { account?: string } = {};

  constructor(
    private readonly health: HealthCheckService,
    private readonly payments: PaymentHealthIndicator,
  ) {}

  @Get()
  @HealthCheck()
  check() {
    return this.health.check([() => this.payments.check('payments', this.limits)]);
  }
}

type Act = (...words: string[]) => unknown;

/** A shop of scripts: each step shows its spans, the values of metrics that it changed, or the health page. */
export class ObservedShop {
  readonly recorder = new TelemetryRecorder();
  readonly clock = new TestClock();
  readonly store = new MemoryPaymentStore({ clock: this.clock });
  private readonly ids = new Map<string, string>();
  private simulator!: Simulator;
  private merchant!: Merchant;
  private last = '';
  private lastOrder = '';
  /** Of each point of each metric. */
  private points = new Map<string, string>();
  private readonly spans: ReadableSpan[] = [];
  private readonly failing: string[] = [];
  private figures: readonly string[] = [];

  private readonly acts: Record<string, Act> = {
    start: (...options) => this.start(Object.fromEntries(options.map(settingOf))),
    pay: (amount, key) => this.pay(amount, key),
    'pay-again': () => this.payments.doPayment(sale('149.90', { reference: this.lastOrder })),
    'pay-in-a-span-of-the-shop': () =>
      trace.getTracer('shop').startActiveSpan('checkout', async (checkout) => {
        await this.pay();
        checkout.end();
      }),
    'pay-twice-at-once': async () => {
      const first = this.pay();
      const refused = [() => this.pay(), () => this.payments.init3d(sale())];
      return [...(await Promise.all(refused.map((act) => act().catch(codeOf)))), await first];
    },
    'begin-to-pay': async () => {
      const orders = this.app.get(Orders);
      orders.wait = new Promise((go) => (orders.release = go));
      void this.pay();
      await until(() => orders.isBegun);
    },
    init3d: async () => (await this.payments.init3d(sale())).payment,
    callback: async () => String((await bring(this.simulator.approve(this.last))).status),
    inquire: () => this.payments.inquire(this.last),
    refund: (amount) => this.payments.refund({ conversationId: this.last, ...(amount && { amount }) }),
    void: () => this.payments.void({ conversationId: this.last }),
    reconcile: () => this.payments.reconcile().then(() => undefined),
    wait: (seconds) => this.clock.advance(Number(seconds) * 1_000),
    health: (...limits) => this.health(Object.fromEntries(limits.map(settingOf))),
    metrics: () => undefined,
    close: () => this.app.close(),
    'gateway-ends': () => this.simulator.close(),
    'handlers-fail': () => void (this.app.get(Orders).isFailing = true),
    'handlers-go-on': () => this.app.get(Orders).release(),
    'store-fails': (...methods) => {
      const fail = () => Promise.reject(new Error('password=secret'));
      for (const method of methods) Object.assign(this.store, { [method]: fail });
      this.failing.push(...methods);
    },
    'store-works': () => {
      for (const method of this.failing.splice(0)) Reflect.deleteProperty(this.store, method);
    },
  };

  /** What comes of a step, indented. */
  async play(step: string): Promise<string[]> {
    const [verb = '', ...words] = step.split(' ');
    const act = this.acts[verb];
    if (!act) throw new Error(`no such step: ${step}`);
    const before = new Set(this.recorder.spans);
    const outcome = await Promise.resolve()
      .then(() => act(...words))
      .then((result) => this.outcomeOf(result), codeOf);
    const spans = this.recorder.spans.filter((span) => !before.has(span));
    this.spans.push(...spans);
    const metrics = verb === 'start' ? '' : await this.metricsText(verb === 'metrics');
    const lines = [...outcome.split('\n'), ...this.treeOf(spans), metrics].filter((line) => line !== '');
    return lines.map((line) => wrapped(this.named(line), `    ${/^ */.exec(line)![0]}`));
  }

  async end(): Promise<void> {
    this.acts['store-works']!();
    this.app.get(Orders).release();
    await this.app.close();
    await this.simulator.close();
    this.recorder.stop();
  }

  get payments() {
    return this.merchant.payments;
  }

  private get app(): INestApplication {
    return this.merchant.app;
  }

  private async start({ eu, ...options }: PaymentOptions & { eu?: boolean }): Promise<void> {
    this.recorder.start();
    this.simulator = await startSimulator({ dialect: 'morpos', clock: () => this.clock.now() });
    const further = { ...simulatorOptions(this.simulator), name: 'eu', callback: false, background: false } as const;
    this.merchant = await startMerchant('express', this.simulator, {
      clock: this.clock,
      options: { store: this.store, ...options },
      metadata: {
        imports: [TerminusModule.forRoot({ logger: false }), ...(eu ? [PaymentModule.forRoot(further)] : [])],
        controllers: [HealthController],
        providers: [Orders, PaymentHealthIndicator],
      },
    });
  }

  private async pay(amount = '149.90', idempotencyKey?: string): Promise<unknown> {
    const keyed = idempotencyKey === undefined ? {} : { idempotencyKey, reference: `order of ${idempotencyKey}` };
    const order = sale(amount, keyed);
    this.lastOrder = order.reference!;
    return this.payments.doPayment(order);
  }

  private async health(limits: HealthController['limits']): Promise<string> {
    this.app.get(HealthController).limits = limits;
    const response = await fetch(`${this.merchant.url}/health`);
    const { details } = (await response.json()) as { details: { payments: object } };
    const figures = figuresOf(details.payments);
    const changed = figures.filter((figure) => !this.figures.includes(figure));
    this.figures = figures;
    return [String(response.status), ...changed].join('\n');
  }

  private outcomeOf(result: unknown): string {
    if (Array.isArray(result)) return result.map((one) => this.outcomeOf(one)).join(', ');
    if (typeof result === 'string') return result;
    if (result === undefined) return '';
    const { conversationId, refundId, state, reason } = result as Record<string, string | null>;
    if (!refundId) this.last = conversationId!;
    return [state, reason].filter(Boolean).join(' ');
  }

  private treeOf(spans: readonly ReadableSpan[], parent?: ReadableSpan): string[] {
    const isHere = ({ parentSpanContext: above }: ReadableSpan): boolean =>
      parent
        ? above?.spanId === parent.spanContext().spanId
        : !spans.some((one) => one.spanContext().spanId === above?.spanId);
    const here = spans.filter(isHere).sort((one, other) => one.name.localeCompare(other.name));
    return here.flatMap((span) => [this.spanText(span), ...this.treeOf(spans, span).map((line) => `  ${line}`)]);
  }

  private spanText({ name, kind, attributes, status, links, events, parentSpanContext }: ReadableSpan): string {
    const linked = links.map(({ context }) => {
      const earlier = this.spans.find((span) => span.spanContext().spanId === context.spanId);
      return earlier?.spanContext().traceId === context.traceId ? earlier.name : 'nothing';
    });
    const told = [
      ...Object.entries(attributes).map(([key, value]) => `${short(key)} ${String(value)}`),
      ...linked.map((earlier) => `linked to ${earlier}`),
      ...events.map((event) => `with the event ${event.name}`),
    ];
    const failed = status.code === SpanStatusCode.ERROR ? ' FAILED' : '';
    return `${parentSpanContext ? '' : 'trace: '}${SpanKind[kind].toLowerCase()} ${name}${failed}: ${told.join(', ')}`;
  }

  /** All values of metrics, or those that are others than after the last step; at first, all that are not 0. */
  private async metricsText(isAll: boolean): Promise<string> {
    const points = new Map<string, string>();
    for (const { name, attributes, value } of await this.recorder.points()) {
      const { 'card_payment.account': account, ...others } = attributes;
      const of = [...(account === 'default' ? [] : [`account ${String(account)}`]), ...Object.values(others)];
      points.set([short(name), ...of].join(' '), valueText(name, value));
    }
    const gone = [...this.points.keys()].filter((key) => !points.has(key)).map((key) => `${key} gone`);
    const shown = [...points].filter(([key, value]) => isAll || (this.points.get(key) ?? '0') !== value);
    this.points = points;
    const texts = [...shown.map((point) => point.join(' = ')), ...gone].sort();
    return isAll || texts.length > 0 ? `metrics: ${texts.join(', ') || 'none'}` : '';
  }

  /** Ids, addresses and ports are others each time. */
  private named(text: string): string {
    const { port } = new URL(this.simulator.url);
    for (const [, , id] of text.matchAll(/(conversation_id|refund_id) ([^,\s]+)/g)) {
      if (!this.ids.has(id!)) this.ids.set(id!, `id${this.ids.size + 1}`);
    }
    const named = [...this.ids].reduce((known, [id, name]) => known.replaceAll(id, name), text);
    return named.replaceAll(this.simulator.url, 'http://gateway').replace(new RegExp(`\\b${port}\\b`, 'g'), 'PORT');
  }
}

const short = (name: string): string => name.replace('card_payment.', '');

function settingOf(text: string): [string, unknown] {
  const [name = '', value = 'true'] = text.split('=');
  return [name, /^(-?\d+|true|false)$/.test(value) ? (JSON.parse(value) as unknown) : value];
}

function codeOf(error: unknown): string {
  return String((error as { code?: unknown }).code ?? error);
}

/** How often a duration was measured, and how long it was by the shop's clock: others are of this machine. */
function valueText(name: string, value: unknown): string {
  if (typeof value === 'number') return String(value);
  const { count, sum } = value as { count: number; sum: number };
  if (name === 'card_payment.handler.duration') return `${count} times ${sum} s`;
  expect([name, sum > 0, sum < count * SECONDS]).toEqual([name, true, true]);
  return `${count} times`;
}

/** The figures of a health page, a line for each group. */
function figuresOf(value: object): string[] {
  return Object.entries(value).map(([name, figure]: [string, unknown]) => `${name} ${figureText(figure, name)}`);
}

function figureText(figure: unknown, name: string): string {
  // When passes begin is a matter of chance.
  if (name === 'backgroundIdleMs' && typeof figure === 'number') return `${Math.floor(figure / 60_000)} minutes`;
  if (Array.isArray(figure)) return figure.length === 0 ? 'none' : figure.join(' ');
  if (typeof figure !== 'object' || figure === null) return String(figure);
  if (!('oldest' in figure && 'count' in figure)) return figuresOf(figure).join(', ');
  const { count, oldest } = figure as { count: number; oldest: string | null };
  return `${count}${oldest === null ? '' : ` since ${oldest}`}`;
}
