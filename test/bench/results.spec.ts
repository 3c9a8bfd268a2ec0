import { jest } from '@jest/globals';
import { HELP, parseCommand } from '../../bench/command-line.js';
import { chartOf } from '../../bench/payments/chart.js';
import { judge } from '../../bench/payments/compare-commits.js';
import { GOALS } from '../../bench/payments/goals.js';
import { COMPARISON, FULL, QUICK } from '../../bench/payments/options.js';
import { pageOf } from '../../bench/payments/page.js';
import { printResults } from '../../bench/payments/report.js';
import { type Results, sectionsOf } from '../../bench/payments/results.js';
import type { Run } from '../../bench/payments/rounds.js';
import { SUBJECTS } from '../../bench/payments/subjects.js';

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
        wall: { min: 400, median: 600 },
        latency: { min: 100, median: 900, p99: 2700 },
        ratio: 2,
      },
    ]);
  });

  it('prints a table', () => {
    printResults(RESULTS);
    expect(printed).toContainEqual(expect.stringContaining('A direct payment, 64 at once'));
    expect(
      printed
        .find((line) => line.includes(' memory '))
        ?.trim()
        .split(/\s+/),
    ).toEqual(['memory', '300', '200', '2.00', '600', '400', '100', '900', '2700']);
  });

  it('draws bars as long as their figures', () => {
    const chart = chartOf(RESULTS);
    const bars = [...chart.matchAll(/<rect class="(\w+)".* width="(\d+)"/g)].map(([, kind, width]) => ({
      kind,
      width,
    }));
    expect(bars.map(({ kind }) => kind)).toEqual(['other', 'own']);
    expect(Number(bars[1]?.width) / Number(bars[0]?.width)).toBeCloseTo(3, 1);
    expect(chart).toContain('300 (2.00 × stripe-node)');
    expect(chart).toContain('prefers-color-scheme: dark');
  });

  it('writes a page with the goals as they were met and missed', async () => {
    const page = await pageOf(RESULTS);
    const goal = (what: string) =>
      page
        .split('\n')
        .find((line) => line.startsWith(`| ${what}`))
        ?.replaceAll(/ +/g, ' ');
    expect(goal('`doPayment` in memory')).toContain('| 2.3 | 1.5 | 2.00 |');
    expect(goal('`doPayment` on SQLite')).toContain('| not measured |');
    expect(page.replaceAll('\n', ' ')).toContain('Measured on 2026-01-02 at v1.2.3, Node v20.20.2, linux x64, 2 cores');
    expect(page.split('\n').filter((line) => line.length > 120 && !line.startsWith('|'))).toEqual([]);

    const slower = RESULTS.runs.map((run) => (run.subject === 'memory' ? { ...run, cpu: 2 * run.cpu } : run));
    expect(await pageOf({ ...RESULTS, runs: slower })).toContain('4.00, missed');
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
    for (const { subject } of GOALS) expect(names).toContain(subject);
    for (const { subjects } of [FULL, QUICK, COMPARISON]) expect(names).toEqual(expect.arrayContaining([...subjects]));
  });

  describe('the command line', () => {
    it('reads what to run', () => {
      expect(parseCommand([])).toMatchObject({ run: 'benches', names: [], options: { quick: false, write: false } });
      expect(parseCommand(['payments', '--quick', '--at-once', '1,64', '--subjects', 'memory,undici'])).toMatchObject({
        names: ['payments'],
        options: { quick: true, atOnce: [1, 64], subjects: ['memory', 'undici'] },
      });
      expect(parseCommand(['compare', 'v1'])).toMatchObject({ base: 'v1', head: 'HEAD', bound: 1.15 });
      expect(parseCommand(['compare', 'v1', 'v2', '--bound', '1.3'])).toMatchObject({ head: 'v2', bound: 1.3 });
      expect(parseCommand(['--help'])).toEqual({ run: 'help' });
    });

    it.each(['compare', 'compare a b c', '--rounds 0', '--at-once 1,x', '--fast', 'compare a --bound x'])(
      'refuses %s',
      (line) => expect(() => parseCommand(line.split(' '))).toThrow(),
    );

    it('is explained', () => {
      for (const option of ['quick', 'subjects', 'at-once', 'rounds', 'calls', 'warm-up', 'json', 'write', 'bound']) {
        expect(HELP).toContain(`--${option} `);
      }
    });
  });
});
