import { createPool } from 'mysql2';
import { mysqlPaymentStore, type MysqlStoreOptions, type SqlDialect } from 'nestjs-card-payment/sql';

const url = 'mariadb://shop@127.0.0.1/shop';
const options: readonly MysqlStoreOptions[] = [
  { connectionString: url, maxConnections: 5, migrate: false },
  { pool: createPool({ uri: url, charset: 'utf8mb4_bin' }) },
];
export const dialects: readonly SqlDialect[] = ['mysql', 'mariadb'];
export const stores = options.map((one) => mysqlPaymentStore(one));
