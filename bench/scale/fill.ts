import { createHash } from 'node:crypto';
import type { ScaleConnection } from './databases.js';

/** Stored payments are spread evenly over this time before now. */
export const SPREAD_MS = 365 * 86_400_000;

/** How many copies of each payment one statement makes. */
const COPIES_AT_ONCE = 100;

/** The settled payments that are copied, as tables of their own. */
const TABLES = [
  { table: 'card_payment', copied: 'bench_payment' },
  { table: 'card_payment_version', copied: 'bench_version' },
  { table: 'card_payment_name', copied: 'bench_name' },
];

/**
 * Copies all payments of the tables so often, each copy with an id, a reference, a token, a key and times of its own, as
 * random as those of real payments are.
 */
export async function copyPayments(
  { run }: ScaleConnection,
  copies: number,
  { partitioned }: { readonly partitioned: boolean },
): Promise<void> {
  for (const { table, copied } of TABLES) await run(`create table ${copied} as select * from ${table}`);
  const [began, step] = [Date.now() - SPREAD_MS, Math.floor(SPREAD_MS / copies)];
  for (let first = 1; first <= copies; first += COPIES_AT_ONCE) {
    const last = Math.min(first + COPIES_AT_ONCE - 1, copies);
    for (const statement of statements({ first, last, at: `${began} + n * ${step}`, partitioned }))
      await run(statement);
  }
  for (const { copied } of TABLES) await run(`drop table ${copied}`);
}

/** The ids of a copy. */
export function copyOf(conversationId: string, number: number): { conversationId: string; reference: string } {
  const hash = createHash('md5').update(`${conversationId}${number}`).digest('hex');
  const id = hash.slice(0, 20).toUpperCase();
  return { conversationId: id, reference: `order-${id}` };
}

interface Copies {
  readonly first: number;
  readonly last: number;
  /** The time of copy `n`, as an expression. */
  readonly at: string;
  readonly partitioned: boolean;
}

function statements({ first, last, at, partitioned }: Copies): string[] {
  const id = 'upper(substr(md5(concat(p.conversation_id, n)), 1, 20))';
  const reference = `concat('order-', ${id})`;
  const own = (text: string) => `replace(replace(${text}, p.conversation_id, ${id}), p.reference, ${reference})`;
  const insert = (table: string, from: string, columns: Readonly<Record<string, string>>) =>
    `insert into ${table} (account, ${Object.keys(columns).join(', ')})
    with recursive numbers (n) as (select ${first} union all select n + 1 from numbers where n < ${last})
    select p.account, ${Object.values(columns).join(', ')} from ${from} cross join numbers`;
  const joined = (copied: string) => `bench_payment as p join ${copied} as c on c.conversation_id = p.conversation_id`;
  return [
    insert('card_payment', 'bench_payment as p', {
      conversation_id: id,
      version: 'version',
      state: 'state',
      is_refund: 'is_refund',
      reference,
      created_at: at,
      updated_at: at,
      finalized_at: at,
    }),
    insert('card_payment_version', joined('bench_version'), {
      conversation_id: id,
      version: 'c.version',
      type: 'type',
      record: own('record'),
      ...(partitioned && { written_at: at }),
    }),
    insert('card_payment_name', joined('bench_name'), {
      // Its kind, and a hash of its own.
      name: `concat(substr(name, 1, 4), md5(concat(name, ${id})))`,
      conversation_id: id,
    }),
  ];
}
