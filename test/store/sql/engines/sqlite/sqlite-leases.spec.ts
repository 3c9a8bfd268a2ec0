import Database from 'better-sqlite3';
import { SqliteDialect } from 'kysely';
import { describeLeases } from '../../lease-cases.js';

describeLeases('sqlite', () => new SqliteDialect({ database: new Database(':memory:') }));
