import { createPool } from 'mysql2';
import { MemoryPaymentStore, PaymentStore } from 'nestjs-card-payment';
import { mysqlPaymentStore, type SqlDialect, SqlPaymentStore } from 'nestjs-card-payment/sql';
import { TestClock } from 'nestjs-card-payment/testing';

const dialects: readonly SqlDialect[] = ['sqlite', 'postgres', 'mysql', 'mariadb'];
const areStores = [MemoryPaymentStore, SqlPaymentStore].every((store) => store.prototype instanceof PaymentStore);
const url = 'mysql://shop@127.0.0.1/shop';
const mysqlStores = [mysqlPaymentStore({ connectionString: url }), mysqlPaymentStore({ pool: createPool(url) })];
const areSqlStores = mysqlStores.every((store) => store instanceof SqlPaymentStore);

process.stdout.write(JSON.stringify({ dialects, areStores, areSqlStores, testing: typeof TestClock }));
