import { LIMIT_MS, PostgresUnderLoad } from './postgres-under-load.js';

let shops: PostgresUnderLoad;

describe('postgres connections', () => {
  beforeEach(async () => {
    shops = await PostgresUnderLoad.start();
  }, LIMIT_MS);
  afterEach(() => shops.stop(), LIMIT_MS);

  test(
    'connections to a server that answers 25006 are given up, although it stays up',
    async () => {
      const { pair, load } = shops;
      pair.moveAddress();
      await load.untilItFails();
      // As after a fail-over to another server, of which the connections know nothing.
      pair.moveAddress({ to: 'primary', breaks: false });
      await shops.expectToGoOn();
      await shops.expectNoDifference();
    },
    LIMIT_MS,
  );

  test(
    'a primary that comes back, to which connections still lead, acknowledges nothing, until these are broken',
    async () => {
      const { pair, load } = shops;
      await pair.freezePrimary();
      await pair.promote();
      load.readsMayBeOld = true;
      pair.moveAddress({ breaks: false });
      await pair.thawPrimary();
      await load.untilItFails();
      pair.moveAddress();
      await shops.expectToGoOn();
      await shops.expectNoDifference();
    },
    LIMIT_MS,
  );
});
