import type { PaymentClock } from '../../../../../lib/runtime/clock.js';
import { openedStoreAt } from '../../../../rigs/shared-stores.js';
import { suiteStore } from '../../../../rigs/suite-stores.js';
import { type PgBouncer, startPgBouncer } from '../../../../services/pgbouncer.js';
import { describePaymentStore } from '../../../contract/payment-store-contract.js';

// What its transactions have is in test/store/sql/engines/sessions.spec.ts.
describe('PostgreSQL behind PgBouncer', () => {
  let bouncer: PgBouncer;
  let url: string;
  const open = (clock: PaymentClock) => openedStoreAt(bouncer.urlOf(url), { clock });

  beforeAll(async () => {
    url = await (await suiteStore('PostgreSQL')).create();
    bouncer = await startPgBouncer(url);
  });
  afterAll(() => bouncer.stop());

  describePaymentStore('behind PgBouncer', { create: open, another: open }, 5);
});
