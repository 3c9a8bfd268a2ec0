import { openedStoreAt } from '../rigs/shared-stores.js';
import { type Galera, startGalera } from '../services/galera.js';
import { describePaymentStore } from '../store/contract/payment-store-contract.js';

let galera: Galera;
let urls: readonly string[];

describe('contract', () => {
  beforeAll(async () => {
    galera = await startGalera();
    urls = await galera.createDatabase();
  });
  afterAll(() => galera.stop());

  describePaymentStore(
    'two nodes of a Galera cluster',
    {
      create: (clock) => openedStoreAt(urls[0]!, { clock }),
      another: (clock) => openedStoreAt(urls[1]!, { clock }),
    },
    5,
  );
});
