// Comes after processes that were killed: does again what their buyers and merchants would do again, then what time alone does.
import { once } from 'node:events';
import { startShop } from './shop.mjs';

const setup = JSON.parse(process.argv[2]);
const HOUR_MS = 3_600_000;
const MOST_PASSES = 20;

const told = once(process, 'message');
const { app, payments, clock } = await startShop(setup, { storeUrl: setup.storeUrl, background: false });
const [attempts] = await told;

for (const { flow, sale, fields } of attempts) {
  const { conversationId: _other, ...again } = sale;
  const repeat = {
    // The merchant may not know the id that the first attempt had.
    direct: async () => [await payments.doPayment(again), await payments.doPayment(sale)],
    // The first page is lost, so the buyer pays in a new session.
    init3d: () => payments.init3d({ ...again, idempotencyKey: undefined }),
    auth3d: () => payments.auth3d({ conversationId: sale.conversationId, fields }),
  };
  await repeat[flow]();
}

let passes = 0;
for (let idle = 0; idle < 2 && passes < MOST_PASSES; passes += 1) {
  clock.ahead += 2 * HOUR_MS;
  const { written, expired, interrupted, settled, delivered } = await payments.reconcile();
  idle = written + expired + interrupted + settled + delivered === 0 ? idle + 1 : 0;
}
await app.close();
process.send({ passes });
process.disconnect();
