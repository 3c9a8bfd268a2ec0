import { mkdirSync, writeFileSync } from 'node:fs';
import { sqlitePaymentStore } from '../../lib/store/sql/index.js';
import { cli } from './cli.js';
import { scratch } from './scratch.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';

const LIST = ['payments', 'list', '--state', 'all', '--json'];

describe('where the command line has its settings from', () => {
  const { folder: cwd, file, remove } = scratch();
  const idsIn = (stdout: string) =>
    (JSON.parse(stdout) as { payments: { conversationId: string }[] }).payments.map((one) => one.conversationId);

  beforeAll(async () => {
    for (const name of ['one', 'other']) {
      const store = sqlitePaymentStore({ file: file(`${name}.sqlite`) });
      await store.open();
      await store.insert(aPaymentRecord({ conversationId: name }));
      await store.insert(aPaymentRecord({ conversationId: `shop of ${name}`, account: 'shop-2' }));
      await store.close();
    }
    writeFileSync(file('.env'), 'PAYMENT_STORE_URL=sqlite:one.sqlite\n');
    writeFileSync(
      file('other.env'),
      'PAYMENT_STORE_URL=sqlite:other.sqlite\nPAYMENT_SHOP_2_STORE_URL=sqlite:one.sqlite\n',
    );
    mkdirSync(file('folder'));
  });
  afterAll(remove);

  it('reads .env in the working directory', async () => {
    const { status, stdout, stderr } = await cli(LIST, { cwd });
    expect([status, stderr]).toEqual([0, '']);
    expect(idsIn(stdout)).toEqual(['one']);
  });

  it('reads another file instead, when it is named', async () => {
    const { stdout } = await cli([...LIST, '--env', 'other.env'], { cwd });
    expect(idsIn(stdout)).toEqual(['other']);
  });

  it('lets a variable that is set win over the file, and --store over both', async () => {
    const env = { PAYMENT_STORE_URL: `sqlite:${file('other.sqlite')}` };
    expect(idsIn((await cli(LIST, { cwd, env })).stdout)).toEqual(['other']);
    expect(idsIn((await cli([...LIST, '--store', 'sqlite:one.sqlite'], { cwd, env })).stdout)).toEqual(['one']);
  });

  it('reads the variables of a named account, and no others', async () => {
    const without = await cli([...LIST, '--account', 'shop-2'], { cwd });
    expect([without.status, without.stdout]).toEqual([2, '']);
    expect(without.stderr).toContain('PAYMENT_SHOP_2_STORE_URL is not set');
    const { stdout } = await cli([...LIST, '--account', 'shop-2', '--env', 'other.env'], { cwd });
    expect(idsIn(stdout)).toEqual(['shop of one']);
  });

  it('refuses a folder', async () => {
    const { status, stderr } = await cli([...LIST, '--env', 'folder'], { cwd });
    expect(status).toBe(2);
    expect(stderr).toContain('--env: folder is a folder.');
  });
});
