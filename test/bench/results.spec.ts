import { jest } from '@jest/globals';
import { judge } from '../../bench/payments/compare-commits.js';
import { type Results, sectionsOf } from '../../bench/payments/results.js';
import type { Run } from '../../bench/payments/rounds.js';

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

describe('results', () => {
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

  it('finds a commit slower by the middle of its rounds', () => {
    const print = jest.spyOn(console, 'log').mockReturnValue();
    const runs = (head: readonly number[]) => [
      ...[100, 800, 100].map((cpu, index) => ran('memory', index + 1, cpu, 'base')),
      ...head.map((cpu, index) => ran('memory', index + 1, cpu, 'head')),
    ];
    expect(judge(runs([110, 2000, 105]), 1.15)).toBe(true);
    expect(judge(runs([110, 960, 120]), 1.15)).toBe(false);
    expect(print.mock.calls.at(-1)?.[0]).toMatch(/memory, 64 at once +100 +120 +1\.20 +1\.10 +1\.20 +slower/);
  });
});
