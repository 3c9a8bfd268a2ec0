import { type Galera, startGalera } from './galera.js';
import { queryMariaDb } from './mariadb.js';
import { until } from './until.js';

/** The nodes wait for each other for seconds. */
const TIMEOUT_MS = 120_000;

let galera: Galera;
let urls: readonly string[];

describe('galera', () => {
  beforeAll(async () => {
    galera = await startGalera();
    urls = await galera.createDatabase();
    await createTable();
  }, TIMEOUT_MS);
  afterAll(() => galera.stop());

  const createTable = () => queryMariaDb(urls[0]!, 'create table t (id int primary key)');
  const insert = (node: number, id: number) => queryMariaDb(urls[node]!, `insert into t values (${id})`);

  test('each node takes writes, and all have them', async () => {
    for (const node of [0, 1, 2]) await insert(node, node);
    for (const node of [0, 1, 2]) await untilItHas(node, [0, 1, 2]);
  });

  test(
    'two go on without a killed node, which gets their writes when it is started again',
    async () => {
      await galera.nodes[2]!.kill();
      await expect(insert(2, 3)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
      await insert(0, 3);
      await untilItHas(1, [0, 1, 2, 3]);
      await galera.nodes[2]!.restart();
      await untilItHas(2, [0, 1, 2, 3]);
    },
    TIMEOUT_MS,
  );

  test(
    'two go on without a frozen node, which gets their writes after the thaw',
    async () => {
      await galera.nodes[1]!.freeze();
      await insert(0, 4);
      await galera.nodes[1]!.thaw();
      await untilItHas(1, [0, 1, 2, 3, 4]);
    },
    TIMEOUT_MS,
  );

  test(
    'a node that is cut off refuses statements with 1047, and gets the writes of the others when it is back',
    async () => {
      await galera.nodes[0]!.partition();
      await insert(1, 5);
      await until(async () => !(await galera.nodes[0]!.isSynced()), TIMEOUT_MS);
      await expect(insert(0, 6)).rejects.toMatchObject({ errno: 1047 });
      await galera.nodes[0]!.heal();
      await untilItHas(0, [0, 1, 2, 3, 4, 5]);
    },
    TIMEOUT_MS,
  );
});

/** Waits until a node takes statements and has these rows. */
async function untilItHas(node: number, ids: readonly number[]): Promise<void> {
  const read = () =>
    queryMariaDb(urls[node]!, 'select id from t order by id').then(
      (rows) => rows.map(({ id }) => Number(id)).join(),
      // 1047 until it is back in the cluster.
      () => null,
    );
  await until(async () => (await read()) === ids.join(), TIMEOUT_MS);
}
