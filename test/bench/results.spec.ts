import { jest } from '@jest/globals';
import { HELP, parseCommand } from '../../bench/command-line.js';
import { judge } from '../../bench/payments/compare-commits.js';
import { COMPARISON, FULL, QUICK } from '../../bench/payments/options.js';
import { type Results, sectionsOf } from '../../bench/payments/results.js';
import type { Run } from '../../bench/payments/rounds.js';
import { SUBJECTS } from '../../bench/payments/subjects.js';
import { pageWith, printResults } from '../../bench/payments/tables.js';

const ran = (subject: string, round: number, cpu: number, build?: string): Run => ({
  subject,
  build,
  round,
  atOnce: 64,
  cpu,
  wall: 2 * cpu,
  latency: { min: cpu / 2, median: 3 * cpu, p99: 9 * cpu },
});

/** The second round was slow for all. Of the ratios 3, 1.5 and 2 the middle one is 2; of the medians it would be 3. */
const RESULTS: Results = {
  at: '2026-01-02T03:04:05.000Z',
  commit: 'v1.2.3',
  machine: { cpu: 'A Processor', cores: 2, memoryGiB: 8, platform: 'linux x64', node: 'v20.20.2' },
  rounds: 3,
  loads: [{ atOnce: 64, warmUp: 10, calls: 20 }],
  runs: [
    ...[100, 800, 100].map((cpu, index) => ran('stripe-node', index + 1, cpu)),
    ...[300, 1200, 200].map((cpu, index) => ran('memory', index + 1, cpu)),
  ],
};

let printed: string[];

describe('results', () => {
  beforeEach(() => {
    printed = [];
    jest.spyOn(console, 'log').mockImplementation((line: string) => void printed.push(line));
  });

  it('relates each run to its baseline in the same round', () => {
    const [section, ...more] = sectionsOf(RESULTS);
    expect(more).toEqual([]);
    expect(section).toMatchObject({ title: 'A direct payment', atOnce: 64, baseline: 'stripe-node' });
    expect(section?.rows).toEqual([
      expect.objectContaining({ subject: 'stripe-node', ratio: null, cpu: { min: 100, median: 100 } }),
      {
        subject: 'memory',
        cpu: { min: 200, median: 300 },
        ratio: { min: 1.5, median: 2 },
        goal: 2.3,
        wall: 600,
        latency: 900,
        p99: 2700,
      },
    ]);
  });

  it('prints a table', () => {
    printResults(RESULTS);
    expect(printed).toContainEqual(expect.stringContaining('A direct payment, 64 at once'));
    const row = printed.find((line) => line.includes(' memory '));
    expect(row?.trim().split(/\s+/)).toEqual(['memory', '300', '200', '2.00', '1.50', '2.3', '600', '900', '2700']);
  });

  it('writes the tables of a page, and leaves the rest of it alone', async () => {
    const [before, after] = ['# Performance\n\nBefore.\n', 'After.\n'];
    const written = `${before}\n<!-- figures -->\n\nold\n\n<!-- end of the figures -->\n\n${after}`;
    const page = await pageWith(RESULTS, written);
    expect(page).toMatch(/^# Performance\n\nBefore\.\n\n<!-- figures -->\n\n### A direct payment, 64 at once\n/);
    expect(page).toMatch(/\n<!-- end of the figures -->\n\nAfter\.\n$/);
    expect(page.replace(/ +/g, ' ')).toContain('| memory | 300 | 2.00 | 2700 |');
    expect(page.replace(/\s+/g, ' ')).toContain('Measured on 2026-01-02 at v1.2.3, 3 rounds, Node v20.20.2, linux x64');
    expect(page).not.toContain('old');
    expect(await pageWith(RESULTS, page)).toBe(page);
  });

  it('finds a commit slower by the middle of its rounds', () => {
    const runs = (head: readonly number[]) => [
      ...[100, 800, 100].map((cpu, index) => ran('memory', index + 1, cpu, 'base')),
      ...head.map((cpu, index) => ran('memory', index + 1, cpu, 'head')),
    ];
    expect(judge(runs([110, 2000, 105]), 1.15)).toBe(true);
    expect(judge(runs([110, 960, 120]), 1.15)).toBe(false);
    expect(printed.at(-1)).toMatch(/memory, 64 at once +100 +120 +1\.20 +1\.10 +1\.20 +slower/);
  });

  it('names what there is', () => {
    const names = SUBJECTS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const { beside } of SUBJECTS) expect(beside === undefined || names.includes(beside)).toBe(true);
    for (const { subjects } of [FULL, QUICK, COMPARISON]) expect(names).toEqual(expect.arrayContaining([...subjects]));
  });

  describe('the command line', () => {
    const payments = { run: 'payments', options: expect.objectContaining({ quick: false, write: false }) };

    it.each<readonly [string, object]>([
      ['', payments],
      ['payments', payments],
      ['payments --quick --at-once 1,64', { options: { quick: true, atOnce: [1, 64] } }],
      ['payments --subjects memory,naive', { options: { subjects: ['memory', 'naive'] } }],
      ['compare v1', { run: 'compare', base: 'v1', head: 'HEAD', bound: 1.15 }],
      ['compare v1 v2 --bound 1.3', { head: 'v2', bound: 1.3 }],
      ['lease', { run: 'lease' }],
      ['scale', { run: 'scale', options: { database: 'postgres', stored: 1_000_000, partitioned: false } }],
      ['scale --database sqlite --payments 20000', { options: { database: 'sqlite', stored: 20_000 } }],
      ['--help', { run: 'help' }],
    ])('reads "%s"', (line, command) => {
      expect(parseCommand(line.split(' ').filter(Boolean))).toMatchObject(command);
    });

    it.each([
      ...['compare', 'compare a b c', 'compare a --bound x', '--rounds 0', '--at-once 1,x', '--fast'],
      ...['memory', 'payments scale', 'scale --database oracle', 'scale --payments many'],
    ])('refuses %s', (line) => expect(() => parseCommand(line.split(' '))).toThrow());

    it('is explained', () => {
      const options = ['quick', 'subjects', 'at-once', 'rounds', 'calls', 'warm-up', 'json', 'write', 'bound'];
      for (const option of [...options, 'database', 'payments', 'partitioned']) expect(HELP).toContain(`--${option} `);
    });
  });
});
