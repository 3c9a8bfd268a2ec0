import { Injectable } from '@nestjs/common';
import { createConnection } from 'mysql2/promise';
import { OnPayment } from 'nestjs-card-payment';
import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { type Merchant, sale, startMerchant } from '../e2e/merchant.js';
import { type MariaDb, queryMariaDb, startMariaDb } from '../services/mariadb.js';
import { Notebook } from './notebook.js';
import { CARD, CARD_SECRETS, searchFor } from './secret-search.js';

/** What the module stores on purpose, and shows in no error. */
const REFERENCE = 'reference-of-the-order';
const TABLES = ['', '_name', '_version', '_handler', '_delivery'].map((name) => `card_payment${name}`);

/** A handler whose errors contain a card number. */
@Injectable()
class Handlers {
  @OnPayment(['succeeded', 'failed'], { id: 'clumsy' })
  clumsy(): never {
    throw new Error(`mail bounced: card ${CARD.cardNo}, code ${CARD.cvv}`);
  }
}

let mariadb: MariaDb;
let simulator: Simulator;
let notebook: Notebook;
let url: string;
let merchant: Merchant;

describe('mariadb leaks', () => {
  beforeAll(async () => {
    // The server writes down every statement that it is sent.
    const logs = { log_output: 'TABLE', general_log: '1', slow_query_log: '1', long_query_time: '0' };
    [mariadb, simulator] = await Promise.all([
      startMariaDb(logs),
      startSimulator({ dialect: 'morpos', inquiryKnowsRefunds: true }),
    ]);
    url = await mariadb.createDatabase();
    notebook = new Notebook();
    merchant = await startMerchant('express', simulator, {
      options: { storeUrl: url, background: false, timeoutMs: 1_000 },
      metadata: { providers: [Handlers] },
      override: (builder) => builder.setLogger(notebook.logger),
      application: { logger: notebook.logger },
    });
  });
  afterAll(async () => {
    await merchant.app.close();
    await simulator.close();
    await mariadb.stop();
  });

  let keys = 0;
  const order = (amount?: string) =>
    sale(amount, { cardDetails: { ...CARD }, reference: REFERENCE, allowRepeat: true });

  /** A payment of each kind and a refund, and what an operator asks about them. */
  async function meet(): Promise<void> {
    const { payments } = merchant;
    const idempotencyKey = `key-${(keys += 1)}`;
    const paid = await notebook.watch('doPayment', () => payments.doPayment({ ...order(), idempotencyKey }));
    await notebook.watch('init3d', async () => {
      const { payment } = await payments.init3d(order());
      const { fields } = simulator.approve(payment.conversationId);
      return payments.auth3d({ conversationId: payment.conversationId, fields });
    });
    const conversationId = paid?.conversationId ?? 'none';
    await notebook.watch('refund', () =>
      payments.refund({ conversationId, amount: '1.00', note: `card ${CARD.cardNo}`, by: `ada ${CARD.cardNo}` }),
    );
    await notebook.watch('inquire', () => payments.inquire(conversationId));
    await notebook.watch('find', () => payments.findByReference(REFERENCE));
    await notebook.watch('reconcile', () => payments.reconcile());
  }

  it('runs payments whose gateway answers, and sends the card back', async () => {
    await notebook.watch('doPayment', () => merchant.payments.doPayment({ ...order(), allowRepeat: false }));
    await meet();
    const told = `card ${CARD.cardNo} cvv ${CARD.cvv} exp ${CARD.expDate}`;
    const names = ['message', 'resultDescription', 'responseDescription', 'orderId', 'authCode'];
    const edit = (fields: Record<string, unknown>) => names.forEach((name) => (fields[name] = told));
    for (const operation of ['DoPayment', 'Init3d'] as const) simulator.fail({ operation, kind: 'edit', edit });
    await meet();
  });

  it('meets a store that refuses every statement, then some', async () => {
    for (const table of TABLES) {
      await queryMariaDb(url, `rename table ${table} to away`);
      await meet();
      await queryMariaDb(url, `rename table away to ${table}`);
      await meet();
    }
  });

  it('leaves no card in any row, log, error or event, nor in what the server was sent', async () => {
    await noteServer();
    const logs = ['general_log', 'slow_log'];
    const shown = ['doPayment: error', 'doPayment: result', 'refund: error', 'log: ', ...logs];
    for (const source of [...shown, ...TABLES.map((table) => `rows of ${table}`)]) {
      expect([source, noted(source).length > 0]).toEqual([source, true]);
    }
    // It is looked for where it could be: in texts that tell of this card.
    for (const source of ['rows of card_payment', ...logs]) {
      expect([source, noted(source).some((text) => text.includes('524677******3508'))]).toEqual([source, true]);
    }
    expect(searchFor(CARD_SECRETS, notebook.evidence)).toEqual([]);
  });

  it('shows in no error and no log the statement that failed, which the driver’s error holds with its values', async () => {
    const shown = [...notebook.evidence].filter(({ source }) => /: error|^log: /.test(source));
    expect(shown.filter(({ text }) => /card_payment_name|insert into|ER_[A-Z_]+/.test(text))).toEqual([]);
    const connection = await createConnection(url);
    const text = `insert into none (record) values ('${REFERENCE}')`;
    const error: unknown = await connection.query(text).catch((thrown: unknown) => thrown);
    await connection.end();
    expect(error).toMatchObject({ code: 'ER_NO_SUCH_TABLE', sql: text });
  });
});

/** Notes what the server holds: each row, and each statement that it was sent. */
async function noteServer(): Promise<void> {
  for (const table of TABLES) {
    for (const row of await queryMariaDb(url, `select * from ${table}`)) {
      const texts = Object.values(row as Record<string, unknown>).map((value) =>
        value instanceof Uint8Array ? Buffer.from(value).toString() : String(value),
      );
      notebook.note(`rows of ${table}`, texts.join('\n'));
    }
  }
  for (const log of ['general_log', 'slow_log']) {
    const column = log === 'general_log' ? 'argument' : 'sql_text';
    const rows = await queryMariaDb(url, `select convert(${column} using utf8mb4) as text from mysql.${log}`);
    for (const { text } of rows) notebook.note(log, String(text));
  }
}

/** What was noted under sources that begin so. */
function noted(source: string): string[] {
  return notebook.evidence.filter((item) => item.source.startsWith(source)).map(({ text }) => text);
}
