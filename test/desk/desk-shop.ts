import { type DynamicModule, type ExecutionContext, Injectable } from '@nestjs/common';
import { OnPayment, PaymentModule, PaymentOperations } from 'nestjs-card-payment';
import { type DeskAct, DeskAccess, type DeskStaff, PaymentDeskModule } from 'nestjs-card-payment/desk';
import type { Simulator } from 'nestjs-card-payment/simulator';
import type { PaymentStore } from '../../lib/store/payment-store.js';
import {
  type Merchant,
  type MerchantSetup,
  type Platform,
  simulatorOptions,
  startMerchant,
  useMerchant,
} from '../e2e/merchant.js';
import { unescaped } from '../rigs/page-text.js';

export const EVERYTHING = ['look', 'ask', 'settle', 'refund', 'replay'] as const;

/** Who looks, by the header `x-staff`, and what was recorded. What the tests change is static. */
@Injectable()
export class StaffAccess extends DeskAccess {
  static staff: Readonly<Record<string, DeskStaff>> = {};
  static recorded: DeskAct[] = [];
  /** What `staffOf` throws. */
  static thrown: { readonly it: unknown } | undefined;
  /** Called before an act is recorded: it may throw, or change something. */
  static whileRecording: (act: DeskAct) => unknown = () => undefined;

  static reset(): void {
    this.staff = { ada: { name: 'Ada', rights: EVERYTHING }, bora: { name: 'Bora', rights: EVERYTHING } };
    this.recorded = [];
    this.thrown = undefined;
    this.whileRecording = () => undefined;
  }

  staffOf(context: ExecutionContext): DeskStaff | null {
    if (StaffAccess.thrown) throw StaffAccess.thrown.it as Error;
    const { headers } = context.switchToHttp().getRequest<{ headers: Record<string, string | undefined> }>();
    return StaffAccess.staff[headers['x-staff'] ?? 'ada'] ?? null;
  }

  override async record(act: DeskAct): Promise<void> {
    await StaffAccess.whileRecording(act);
    StaffAccess.recorded.push(act);
  }
}

/** Its events are handed out by the tests, since there is no background work. */
export class Orders {
  @OnPayment('succeeded', { id: 'Orders.paid' })
  paid(): void {
    // Nothing has to be delivered here.
  }
}

/** A further account at the same gateway. */
export function secondAccount(simulator: Simulator): DynamicModule {
  return PaymentModule.forRoot({
    ...simulatorOptions(simulator),
    name: 'second',
    callback: false,
    returnUrl: 'https://shop.example/back',
    failUrl: 'https://shop.example/back',
    background: false,
  });
}

/** Has the event of a payment that succeeded wait, as if its handler had failed. */
export async function fail(
  store: PaymentStore,
  conversationId: string,
  failure: Parameters<PaymentStore['postpone']>[1],
): Promise<void> {
  await store.fanOut('default', 1_000);
  const lease = { account: 'default', lease: 'l', leaseMs: 60_000, limit: 1_000, handlerId: 'Orders.paid' };
  await store.leaseDeliveries({ ...lease, types: ['payment.succeeded'] });
  const delivery = { account: 'default', handlerId: 'Orders.paid', eventId: `${conversationId}:2`, lease: 'l' };
  await store.postpone(delivery, failure);
}

export interface DeskSetup extends MerchantSetup {
  readonly decorators?: readonly ClassDecorator[];
}

export interface DeskShop extends Merchant {
  readonly operations: PaymentOperations;
  readonly store: PaymentStore;
}

/** For a merchant's application with a desk. */
export function withDesk({ decorators, ...setup }: DeskSetup = {}): MerchantSetup {
  const { options, metadata } = setup;
  const desk = PaymentDeskModule.forRoot({ access: StaffAccess, decorators });
  return {
    ...setup,
    options: { background: false, ...options },
    metadata: { ...metadata, imports: [...(metadata?.imports ?? []), desk] },
  };
}

export async function startDesk(platform: Platform, simulator: Simulator, setup?: DeskSetup): Promise<DeskShop> {
  return deskOf(await startMerchant(platform, simulator, withDesk(setup)));
}

function deskOf(merchant: Merchant): DeskShop {
  const operations = merchant.app.get(PaymentOperations);
  const { store } = operations as unknown as { readonly store: PaymentStore };
  return { ...merchant, operations, store };
}

/** A desk and its simulator for the tests of this `describe`. Each test begins with the staff that everybody knows. */
export function useDesk(platform: Platform, setup?: DeskSetup): DeskShop & { readonly simulator: Simulator } {
  const used = useMerchant({ ...withDesk(setup), platform, gateway: { inquiryKnowsRefunds: true } });
  beforeAll(() => void Object.assign(used, deskOf(used)));
  beforeEach(() => StaffAccess.reset());
  return used as DeskShop & typeof used;
}

/** A page as it came, and what can be done on it. */
export class DeskPage {
  private constructor(
    readonly url: string,
    readonly status: number,
    readonly headers: Headers,
    readonly html: string,
    private readonly sent: Readonly<Record<string, string>>,
  ) {}

  /** @param sent headers of this request and of those that follow */
  static async get(url: string, sent: Readonly<Record<string, string>> = {}): Promise<DeskPage> {
    return this.of(await fetch(url, { redirect: 'manual', headers: sent }), url, sent);
  }

  static async post(
    url: string,
    fields: Readonly<Record<string, string>> | string,
    sent: Readonly<Record<string, string>> = {},
  ): Promise<DeskPage> {
    return this.send(url, new URLSearchParams(fields), { 'sec-fetch-site': 'same-origin', ...sent });
  }

  /** Posts with these headers alone. */
  static async send(url: string, body: URLSearchParams | string, headers: Readonly<Record<string, string>>) {
    return this.of(await fetch(url, { method: 'POST', redirect: 'manual', headers, body }), url, headers);
  }

  private static async of(answer: Response, url: string, sent: Readonly<Record<string, string>>): Promise<DeskPage> {
    return new DeskPage(url, answer.status, answer.headers, await answer.text(), sent);
  }

  /** Without tags, in one line. */
  get text(): string {
    const text = this.html.replace(/<head>.*<\/head>/s, '').replace(/<[^>]*>/g, ' ');
    return unescaped(text).replace(/\s+/g, ' ');
  }

  get state(): string | undefined {
    return /<h1>[\s\S]*?data-state="([^"]*)"/.exec(this.html)?.[1];
  }

  /** The acts that there are forms for, with the labels of their buttons. */
  get acts(): string[] {
    return [...this.html.matchAll(/name="act" value="(\w+)"/g)].map(([, act]) => act ?? '');
  }

  /** Where a redirect leads, or a link. */
  at(relative: string): string {
    return new URL(relative, this.url).href;
  }

  follow(): Promise<DeskPage> {
    return DeskPage.get(this.at(this.headers.get('location') ?? 'no location'), this.sent);
  }

  /** The address and the fields of the form of an act, as the page shows it. */
  form(act: string): { readonly url: string; readonly fields: Record<string, string> } {
    const form = [...this.html.matchAll(/<form[^>]*action="([^"]*)"[^>]*>([\s\S]*?)<\/form>/g)].find(([, , inside]) =>
      inside?.includes(`value="${act}"`),
    );
    if (!form) throw new Error(`There is no form of ${act}`);
    const inputs = [...(form[2] ?? '').matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)];
    const fields = Object.fromEntries(inputs.map(([, name = '', value = '']) => [name, unescaped(value)]));
    return { url: this.at(unescaped(form[1] ?? '')), fields };
  }

  async send(act: string, typed: Readonly<Record<string, string>> = {}): Promise<DeskPage> {
    const { url, fields } = this.form(act);
    return DeskPage.post(url, { ...fields, ...typed }, this.sent);
  }

  /** Sends a form, confirms it, and gives what is shown then. */
  async confirm(act: string, typed: Readonly<Record<string, string>> = {}): Promise<DeskPage> {
    const asked = await this.send(act, typed);
    return asked.status === 200 ? asked.send(act) : asked;
  }
}
