import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import Database from 'better-sqlite3';
import { dataFile } from '../data-files.js';

const SCHEMA = `
CREATE TABLE IF NOT EXISTS orders (
  id TEXT PRIMARY KEY,
  lines TEXT NOT NULL,
  total_kurus INTEGER NOT NULL,
  status TEXT NOT NULL DEFAULT 'open',
  held_by TEXT,
  placed_at TEXT NOT NULL,
  invoice_number INTEGER UNIQUE
);
CREATE TABLE IF NOT EXISTS order_refunds (
  account TEXT NOT NULL,
  event_id TEXT NOT NULL,
  order_id TEXT NOT NULL,
  conversation_id TEXT NOT NULL,
  kurus INTEGER NOT NULL,
  PRIMARY KEY (account, event_id)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS order_refunds_by_order ON order_refunds (order_id);
CREATE TABLE IF NOT EXISTS handled_deliveries (
  account TEXT NOT NULL,
  handler TEXT NOT NULL,
  event_id TEXT NOT NULL,
  PRIMARY KEY (account, handler, event_id)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS received_events (
  order_id TEXT NOT NULL,
  event_id TEXT NOT NULL,
  via TEXT NOT NULL,
  type TEXT NOT NULL,
  reason TEXT,
  received_at TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS received_events_by_order ON received_events (order_id);
`;

/** The SQLite file of the shop. The payment module uses another one. */
@Injectable()
export class ShopDatabase implements OnApplicationShutdown {
  readonly sqlite = new Database(dataFile('shop.sqlite'));

  constructor() {
    this.sqlite.pragma('journal_mode = WAL');
    this.sqlite.exec(SCHEMA);
    this.addPaidBy();
  }

  /** A database that was made before the shop could give money back has no such column. */
  private addPaidBy(): void {
    const columns = this.sqlite.pragma('table_info(orders)') as { name: string }[];
    if (columns.some(({ name }) => name === 'paid_by')) return;
    this.sqlite.exec('ALTER TABLE orders ADD COLUMN paid_by TEXT');
  }

  onApplicationShutdown(): void {
    this.sqlite.close();
  }
}
