import { NestFactory } from '@nestjs/core';
import { type DoPaymentDto, PaymentModule, PaymentService } from 'nestjs-card-payment';
import { startSimulator } from 'nestjs-card-payment/simulator';
import type { SqlPaymentStore } from 'nestjs-card-payment/sql';
import { aPaymentEvent } from 'nestjs-card-payment/testing';
import type { SampleKind } from './sample-payments.js';

/** The tables that are filled. */
export const FILLED_TABLES = [
  'card_payment',
  'card_payment_history',
  'card_payment_event',
  'card_payment_key',
  'card_payment_reference_lock',
];

const KEY = 'checkout-of-the-sample';

/** What the store has written of one payment. */
export interface WrittenPayment {
  readonly conversationId: string;
  readonly reference: string;
  readonly state: string;
  readonly version: number;
  readonly record: string;
  readonly idempotencyKey: string | null;
  readonly tokenHash: string | null;
  readonly attemptId: string;
  readonly holdsReference: boolean;
  readonly history: readonly { readonly version: number; readonly entry: string }[];
  readonly event: { readonly version: number; readonly type: string; readonly event: string };
}

/** How a database is looked into. */
export interface WrittenTables {
  readonly open: () => SqlPaymentStore;
  readonly rowsOf: (table: string, conversationId: string) => Promise<readonly object[]>;
}

/** Makes one payment of each kind with the package itself, and reads what it has written. */
export async function writtenPayments(
  storeUrl: string,
  tables: WrittenTables,
): Promise<Record<SampleKind, WrittenPayment>> {
  const simulator = await startSimulator({ dialect: 'morpos' });
  const module = PaymentModule.forRoot({
    ...simulator.credentials,
    baseUrl: simulator.url,
    dialect: 'morpos',
    storeUrl,
    background: false,
    callback: false,
    returnUrl: 'https://shop.example/payments/{token}/return',
    failUrl: 'https://shop.example/payments/{token}/fail',
  });
  const app = await NestFactory.createApplicationContext(module, { logger: false });
  const payments = app.get(PaymentService);
  const threeD = (await payments.init3d(saleOf('sample-3d'))).conversationId;
  await payments.auth3d({ conversationId: threeD, fields: simulator.approve(threeD).fields });
  const direct = await payments.doPayment({ ...saleOf('sample-direct'), idempotencyKey: KEY });
  const declined = await payments.doPayment(saleOf('sample-declined', '149.51'));
  const abandoned = (await payments.init3d(saleOf('sample-expired'))).conversationId;
  await app.close();
  await simulator.close();
  await expire(tables.open(), abandoned);
  return {
    threeD: await read(tables, threeD),
    direct: await read(tables, direct.conversationId),
    declined: await read(tables, declined.conversationId),
    expired: await read(tables, abandoned),
  };
}

function saleOf(reference: string, amount = '149.90'): DoPaymentDto {
  return {
    reference,
    cardDetails: { cardNo: '4508034508034509', expDate: '1236', cvv: '000' },
    transactionDetails: { amount, currencyCode: 949 },
    cardHolderInfo: { cardHolderName: 'ADA YILMAZ', buyerGsm: '905551112233' },
  };
}

/** As the background work does it an hour later. */
async function expire(store: SqlPaymentStore, conversationId: string): Promise<void> {
  await store.open();
  const record = (await store.find('default', conversationId))!;
  const at = new Date();
  const change = { state: 'expired', version: record.version + 1, updatedAt: at, finalizedAt: at } as const;
  const expired = { ...record, kind: '3d', ...change } as const;
  await store.replace({ ...expired, dueAt: null }, record.version, aPaymentEvent(expired));
  await store.close();
}

async function read(tables: WrittenTables, conversationId: string): Promise<WrittenPayment> {
  const rowsOf = async <Row>(table: string) => {
    const rows = await tables.rowsOf(table, conversationId);
    return rows.map(
      (row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, textOf(value)])) as Row,
    );
  };
  const [payment] = await rowsOf<Pick<WrittenPayment, 'state' | 'version' | 'reference' | 'record'>>('card_payment');
  const [event] = await rowsOf<WrittenPayment['event']>('card_payment_event');
  if (!payment || !event) throw new Error('the payment was not written whole');
  const { idempotencyKey, tokenHash, attemptId } = JSON.parse(payment.record) as WrittenPayment;
  return {
    ...payment,
    conversationId,
    idempotencyKey,
    tokenHash,
    attemptId,
    holdsReference: (await rowsOf('card_payment_reference_lock')).length > 0,
    history: await rowsOf<WrittenPayment['history'][number]>('card_payment_history'),
    event,
  };
}

/** Some databases have columns of bytes for keys. */
function textOf(value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value).toString() : value;
}
