import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { jest } from '@jest/globals';
import { newConversationId, OnPayment, type PaymentEvent, type PaymentStore, SystemClock } from 'nestjs-card-payment';
import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { openSqlStore } from 'nestjs-card-payment/sql';
import { aPaymentEvent, aPaymentRecord } from 'nestjs-card-payment/testing';
import { sale } from '../e2e/merchant.js';
import { type Instance, startInstance } from '../recovery/instance.js';
import { type Postgres, startPostgres } from '../services/postgres.js';

const HOUR_MS = 3_600_000;
const LEASE = { account: 'default', leaseMs: 10 * 60_000, limit: 100 } as const;

/** The clock of a host in the wrong time zone. */
class ShiftedClock extends SystemClock {
  constructor(private readonly shiftMs: number) {
    super();
  }

  override now(): Date {
    return new Date(super.now().getTime() + this.shiftMs);
  }
}

@Injectable()
class Journal {
  readonly events: string[] = [];

  @OnPayment('succeeded')
  paid({ eventId }: PaymentEvent): void {
    this.events.push(eventId);
  }
}

let postgres: Postgres;
let url: string;
let simulator: Simulator;
/** For the test to look into. */
let store: PaymentStore;
let warnings: string[];
const instances: Instance[] = [];

beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());
beforeEach(async () => {
  warnings = [];
  jest.spyOn(Logger.prototype, 'warn').mockImplementation((text: unknown) => void warnings.push(String(text)));
  simulator = await startSimulator({ dialect: 'morpos', timestampToleranceMs: Infinity });
  url = await postgres.createDatabase();
  store = await openSqlStore(url);
  await store.open();
});
afterEach(async () => {
  await Promise.all(instances.splice(0).map((instance) => instance.close()));
  await store.close();
  await simulator.close();
  jest.restoreAllMocks();
});

/** One more instance on the same payments, on a host whose clock is that far off; `journal` is its handler. */
async function start(hoursOff: number, sessionTtlMs = HOUR_MS): Promise<Instance & { readonly journal: Journal }> {
  const journal = new Journal();
  const providers = [{ provide: Journal, useValue: journal }];
  const clock = new ShiftedClock(hoursOff * HOUR_MS);
  const options = { sessionTtlMs, storeUrl: url };
  const instance = await startInstance({ simulator, clock, providers, options });
  instances.push(instance);
  return { ...instance, journal };
}

async function complete(instance: Instance, conversationId: string) {
  return instance.payments.auth3d({ conversationId, fields: simulator.approve(conversationId).fields });
}

describe.each([
  [3, 'ahead of'],
  [-3, 'behind'],
])('a host whose clock is %d hours off', (hours, side) => {
  it('says so', async () => {
    await start(0);
    expect(warnings).toEqual([]);
    await start(hours);
    expect(warnings).toEqual([
      expect.stringMatching(`This host's clock is 10(799|800|801) seconds ${side} the payment`),
    ]);
  });

  it('expires nothing that is open, and completes it', async () => {
    const right = await start(0);
    const wrong = await start(hours);
    const { conversationId } = await right.payments.init3d(sale());
    const own = await wrong.payments.init3d(sale());
    for (const instance of [wrong, right]) await instance.payments.reconcile();
    expect(await right.payments.find(conversationId)).toMatchObject({ state: 'awaiting' });
    expect(await right.payments.find(own.conversationId)).toMatchObject({ state: 'awaiting' });
    expect(await complete(wrong, conversationId)).toMatchObject({ state: 'succeeded' });
    expect(await complete(right, own.conversationId)).toMatchObject({ state: 'succeeded' });
  });

  it('keeps nothing alive that is over, neither its own nor of others', async () => {
    const right = await start(0, 500);
    const wrong = await start(hours, 500);
    const ids = [];
    for (const instance of [right, wrong, right, wrong])
      ids.push((await instance.payments.init3d(sale())).conversationId);
    await delay(600);
    expect(await complete(wrong, ids[0]!)).toMatchObject({ state: 'expired' });
    expect(await complete(right, ids[1]!)).toMatchObject({ state: 'expired' });
    await wrong.payments.reconcile();
    for (const id of ids.slice(2)) expect(await right.payments.find(id)).toMatchObject({ state: 'expired' });
    expect(simulator.ledger.calls('Auth3d')).toBe(0);
  });

  it('takes no payment that another has leased, and takes it when the lease is over', async () => {
    const wrong = await start(hours);
    const own = { conversationId: newConversationId(), reference: null, referenceLock: null, idempotencyKey: null };
    const now = await store.now();
    await store.insert(aPaymentRecord({ ...own, state: 'unknown', version: 1, createdAt: now, dueAt: now }));
    expect(await store.leaseDue({ ...LEASE, leaseMs: 2_000 })).toHaveLength(1);
    await wrong.payments.reconcile();
    expect(simulator.ledger.calls('CheckPayment')).toBe(0);
    await delay(2_100);
    await wrong.payments.reconcile();
    expect(simulator.ledger.calls('CheckPayment')).toBe(1);
    expect(await store.leaseDue(LEASE)).toEqual([]);
  });

  it('takes no event that another has leased, and takes it when the lease is over', async () => {
    const { payments, journal } = await start(hours);
    const fields = { conversationId: newConversationId(), version: 1, reference: null } as const;
    const event = aPaymentEvent(fields);
    await store.insert(aPaymentRecord({ ...fields, referenceLock: null, idempotencyKey: null }), event);
    await store.fanOut('default', 10);
    const lease = { ...LEASE, handlerId: 'Journal.paid', types: [event.type], lease: 'other', leaseMs: 2_000 };
    expect(await store.leaseDeliveries(lease)).toHaveLength(1);
    await payments.reconcile();
    expect(journal.events).toEqual([]);
    await delay(2_100);
    await payments.reconcile();
    expect(journal.events).toEqual([event.eventId]);
  });
});
