import type { PaymentClock } from 'nestjs-card-payment';
import { openSqlStore } from 'nestjs-card-payment/sql';
import { type Galera, startGalera } from '../services/galera.js';
import { describePaymentStore } from '../store/contract/payment-store-contract.js';

let galera: Galera;
let urls: readonly string[];

describe('contract', () => {
  beforeAll(async () => {
    galera = await startGalera();
    urls = await galera.createDatabase();
  }, 60_000);
  afterAll(() => galera.stop());

  describePaymentStore(
    'two nodes of a Galera cluster',
    {
      create: (clock) => openAt(0, clock),
      another: (_store, clock) => openAt(1, clock),
    },
    5,
  );
});

async function openAt(node: number, clock: PaymentClock) {
  const store = await openSqlStore(urls[node]!, { clock });
  await store.open();
  return store;
}
