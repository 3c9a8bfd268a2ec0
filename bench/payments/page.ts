import { format, resolveConfig } from 'prettier';
import { GOALS, measuredRatio } from './goals.js';
import { cellsOf, headsOf, titleOf } from './report.js';
import { type Results, type Section, sectionsOf } from './results.js';
import { GROUPS } from './subjects.js';

/** docs/internals/performance.md, as prettier formats it. */
export async function pageOf(results: Results): Promise<string> {
  const sections = sectionsOf(results);
  const { at, commit, machine, rounds, loads } = results;
  const processes = loads.map(
    ({ atOnce, warmUp, calls }) => `with ${atOnce} at once, ${warmUp} calls to warm up and ${calls} that count`,
  );
  const page = `# Performance

This page shows what a whole payment costs, compared with other clients that a merchant could call. \`npm run bench --
payments\` measures it. \`npm run bench -- payments --write\` writes this page and its chart; do not edit them.

![CPU of each subject, as in the tables below](performance.svg)

## The goals

Ratios of CPU, with 64 payments at once. Each is the median of the rounds.

${markdownTable(
  ['ratio', 'at most', 'wanted', 'measured'],
  GOALS.map((goal) => {
    const ratio = measuredRatio(goal, sections);
    const verdict = ratio === null ? 'not measured' : `${ratio.toFixed(2)}${ratio > goal.atMost ? ', missed' : ''}`;
    return [goal.what, String(goal.atMost), goal.wanted === null ? '' : String(goal.wanted), verdict];
  }),
)}

What is missed, and why:

- A callback costs about as much more than the bare route as \`doPayment\` costs more than a bare request. The module finds
  the payment by its token, claims and settles it by two compare-and-sets with their history and event, and reads, judges
  and masks the answer. The bare route does none of that. It is also cheap here, since the bank that posts is not counted,
  so mostly system calls remain. Two steps could still be removed, a second reading of the numbers and a second search
  for the card, but each is less than a twentieth of the whole.
- Most of the difference between \`init3d\` and \`doPayment\` is the page itself: \`undici-64k\` only reads, parses and decodes
  it. The goal was set when \`doPayment\` cost five times as much.

Another bench, \`npm run bench -- claims\`, compares claims a second with the bare driver that does the same writes. The goal
is at least 0.9 of it.

## The figures

In µs. \`CPU\`, \`wall\`, the middle \`latency\` and \`p99\` are the median of ${rounds} rounds; \`least\` is the least of them.
Wall is the time of the whole run, divided by its calls. Latency is how long one call waits. The gateway runs on the same
cores, so wall and latency depend on this machine; CPU and its ratio say more.

${sections.map(sectionText).join('\n\n')}

Measured on ${at.slice(0, 10)}${commit === null ? '' : ` at ${commit}`}, Node ${machine.node}, ${machine.platform},
${machine.cores} cores of ${machine.cpu}, ${machine.memoryGiB} GiB.

## How it is measured

- Every figure is of a fresh process: ${processes.join('; ')}, with a garbage collection in between. This is the same for every subject.
- Rounds are interleaved: each subject runs once in a round, and each round begins with another one. A ratio is
  taken within a round, and its median is shown.
- CPU is the user and system time of the process, by \`process.cpuUsage\`. It includes all threads and the driver of SQLite.
  The server of PostgreSQL, the gateway, and the bank that posts callbacks are other processes and not counted.
- The gateway is one \`node:http\` server on loopback that answers at once, without TLS. Requests and answers have the same fields, as far as each client has them, and about the same size. All connections are
  kept alive.
- Each subject checks that its answer says success; otherwise the run fails. \`test/bench\` checks what each sends.
- This package is measured as built (\`dist\`), in a Nest application on Fastify with the default settings, background
  work included. The host's logger is off. The 3D payments of callbacks are started before the measurement.
- The other clients do not store a payment, and judge an answer only by its status. The naive client and the bare ones are
  in \`bench/payments\`, the peers in \`bench/peers\`.

${GROUPS.map(({ subjects }) => subjects)
  .flat()
  .map(({ name, does }) => `- \`${name}\`: ${does}`)
  .join('\n')}

## Run it yourself

\`\`\`sh
npm run bench -- payments --quick          # two minutes
npm run bench -- payments                  # all of it
npm run bench -- compare v0.1.0            # is HEAD slower than that?
npm run bench -- --help
\`\`\`
`;
  return format(page, { ...(await resolveConfig('docs/internals/performance.md')), parser: 'markdown' });
}

function sectionText(section: Section): string {
  return `### ${titleOf(section)}\n\n${markdownTable(headsOf(section), section.rows.map(cellsOf))}`;
}

function markdownTable(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const rule = heads.map((_head, column) => (column === 0 ? '---' : '--:'));
  return [heads, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
