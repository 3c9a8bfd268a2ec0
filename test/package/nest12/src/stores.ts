import { PaymentStore } from 'nestjs-card-payment';
import { RedisPaymentStore } from 'nestjs-card-payment/redis';
import { type SqlDialect, SqlPaymentStore } from 'nestjs-card-payment/sql';
import { TestClock } from 'nestjs-card-payment/testing';

const dialects: readonly SqlDialect[] = ['sqlite', 'postgres'];
const areStores = [RedisPaymentStore, SqlPaymentStore].every((store) => store.prototype instanceof PaymentStore);

process.stdout.write(JSON.stringify({ dialects, areStores, testing: typeof TestClock }));
