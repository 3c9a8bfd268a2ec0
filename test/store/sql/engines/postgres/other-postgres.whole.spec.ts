import type { PaymentClock } from '../../../../../lib/runtime/clock.js';
import { openedStoreAt } from '../../../../rigs/shared-stores.js';
import { startPgBouncer } from '../../../../services/pgbouncer.js';
import { postgres18, startPostgres } from '../../../../services/postgres.js';
import { describePaymentStore } from '../../../contract/payment-store-contract.js';

interface Reached {
  readonly url: string;
  stop(): Promise<void>;
}

const KINDS: Readonly<Record<string, () => Promise<Reached>>> = {
  'PostgreSQL 18': () => startPostgres({}, { binaries: postgres18() }),
  // What its transactions have is in test/store/sql/engines/sessions.spec.ts.
  'PostgreSQL behind PgBouncer': async () => {
    const postgres = await startPostgres();
    const bouncer = await startPgBouncer(postgres.url);
    return { url: bouncer.urlOf(postgres.url), stop: () => bouncer.stop().then(() => postgres.stop()) };
  },
};

describe.each(Object.entries(KINDS))('on %s', (name, start) => {
  let reached: Reached;
  const open = (clock: PaymentClock) => openedStoreAt(reached.url, { clock });

  beforeAll(async () => {
    reached = await start();
  });
  afterAll(() => reached.stop());

  describePaymentStore(name, { create: open, another: open }, 5);
});
