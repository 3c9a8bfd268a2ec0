import { NestFactory } from '@nestjs/core';
import pg from 'pg';
import { type DoPaymentDto, PaymentModule, PaymentService } from 'nestjs-card-payment';
import { startSimulator } from 'nestjs-card-payment/simulator';
import { postgresPaymentStore } from 'nestjs-card-payment/sql';
import { aPaymentEvent } from 'nestjs-card-payment/testing';
import type { SampleKind } from './sample-payments.js';

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

/** Makes one payment of each kind with the package itself, and reads what it has written. */
export async function writtenPayments(connectionString: string): Promise<Record<SampleKind, WrittenPayment>> {
  const simulator = await startSimulator({ dialect: 'morpos' });
  const module = PaymentModule.forRoot({
    ...simulator.credentials,
    baseUrl: simulator.url,
    dialect: 'morpos',
    storeUrl: connectionString,
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
  await expire(connectionString, abandoned);

  const client = new pg.Client({ connectionString });
  await client.connect();
  const written = {
    threeD: await read(client, threeD),
    direct: await read(client, direct.conversationId),
    declined: await read(client, declined.conversationId),
    expired: await read(client, abandoned),
  };
  await client.end();
  return written;
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
async function expire(connectionString: string, conversationId: string): Promise<void> {
  const store = postgresPaymentStore({ connectionString });
  await store.open();
  const record = (await store.find('default', conversationId))!;
  const at = new Date();
  const expired = { ...record, state: 'expired', version: record.version + 1, updatedAt: at, finalizedAt: at } as const;
  await store.replace({ ...expired, dueAt: null }, record.version, aPaymentEvent(expired));
  await store.close();
}

async function read(client: pg.Client, conversationId: string): Promise<WrittenPayment> {
  const rowsOf = async <Row>(table: string) => {
    const text = `select * from ${table} where conversation_id = $1`;
    return (await client.query(text, [conversationId])).rows as Row[];
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
