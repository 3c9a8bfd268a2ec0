import { createPool } from 'mysql2';
import { MemoryPaymentStore, type PaymentOptions } from 'nestjs-card-payment';
import { mysqlPaymentStore, type SqlDialect, SqlPaymentStore } from 'nestjs-card-payment/sql';
import { TestClock } from 'nestjs-card-payment/testing';

const dialects: readonly SqlDialect[] = ['sqlite', 'postgres', 'mysql', 'mariadb'];
const url = 'mysql://shop@127.0.0.1/shop';
const mysqlStores = [mysqlPaymentStore({ connectionString: url }), mysqlPaymentStore({ pool: createPool(url) })];
export const accepted: readonly PaymentOptions['store'][] = [new MemoryPaymentStore(), ...mysqlStores];
const areSqlStores = mysqlStores.every((store) => store instanceof SqlPaymentStore);

process.stdout.write(JSON.stringify({ dialects, areSqlStores, testing: typeof TestClock }));
