import type pg from 'pg';

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Index Name'?: string;
  readonly 'Relation Name'?: string;
  readonly Plans?: readonly PlanNode[];
}

/** Settings of a session that has PostgreSQL show the plan of each statement that it ran. */
export const SHOW_PLANS = [
  'session_preload_libraries=auto_explain',
  'auto_explain.log_min_duration=0',
  'auto_explain.log_format=json',
  'client_min_messages=log',
]
  .map((setting) => `-c ${setting}`)
  .join(' ');

/** Gathers which indexes the statements of a pool's sessions search, and which tables they read as a whole. */
export class Plans {
  private readonly found = new Set<string>();

  constructor(pool: pg.Pool) {
    pool.on('connect', (client) => client.on('notice', ({ message = '' }) => this.read(message)));
  }

  /**
   * What was found since the last call: names of indexes, and of tables that were read as a whole with a `!`.
   * @param wholes the name of the whole by the name of a partition
   */
  take(wholes: ReadonlyMap<string, string>): string[] {
    const names = Array.from(this.found, (name) =>
      name.startsWith('!') ? `!${wholes.get(name.slice(1)) ?? name.slice(1)}` : (wholes.get(name) ?? name),
    );
    this.found.clear();
    return [...new Set(names)].sort();
  }

  private read(message: string): void {
    const json = /plan:\n([^]*)$/.exec(message)?.[1];
    if (json === undefined) return;
    const { Plan } = JSON.parse(json) as { Plan: PlanNode };
    this.walk(Plan);
  }

  private walk(node: PlanNode): void {
    const index = node['Index Name'];
    const table = node['Relation Name'] ?? '';
    if (index?.startsWith('card_payment')) this.found.add(index);
    if (node['Node Type'] === 'Seq Scan' && table.startsWith('card_payment')) this.found.add(`!${table}`);
    for (const child of node.Plans ?? []) this.walk(child);
  }
}
