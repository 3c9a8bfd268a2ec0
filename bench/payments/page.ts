import { format, resolveConfig } from 'prettier';
import { GOALS, measuredRatio } from './goals.js';
import { cellsOf, headsOf, titleOf } from './report.js';
import { type Results, type Section, sectionsOf } from './results.js';
import { GROUPS } from './subjects.js';

/** docs/performance.md, as prettier formats it. */
export async function pageOf(results: Results): Promise<string> {
  const sections = sectionsOf(results);
  const { at, commit, machine, rounds, loads } = results;
  const processes = loads.map(
    ({ atOnce, warmUp, calls }) => `with ${atOnce} at once, ${warmUp} calls to warm up and ${calls} that count`,
  );
  const page = `# Performance

What a whole payment costs beside what else a merchant could call, measured by \`npm run bench -- payments\`. This page
and its chart are written by \`npm run bench -- payments --write\`; do not edit them.

![CPU of each subject, as in the tables below](performance.svg)

## The goals

Ratios of CPU, 64 at once, as the median of the rounds.

${markdownTable(
  ['ratio', 'at most', 'wanted', 'measured'],
  GOALS.map((goal) => {
    const ratio = measuredRatio(goal, sections);
    const verdict = ratio === null ? 'not measured' : `${ratio.toFixed(2)}${ratio > goal.atMost ? ', missed' : ''}`;
    return [goal.what, String(goal.atMost), goal.wanted === null ? '' : String(goal.wanted), verdict];
  }),
)}

What is missed, and why:

- A callback costs over the bare route about what \`doPayment\` costs over a bare request: the payment is found by its
  token, claimed and settled by two compare-and-sets with their history and event, and the answer is read, judged and
  masked. The bare route has none of that, and is cheap here, as the bank that posts is not counted: what is left of it
  is mostly system calls. What could still go, a second reading of the numbers and a second search for the card, is less
  than a twentieth of the whole each.
- Of what \`init3d\` costs over \`doPayment\`, most is the page itself: \`undici-64k\` reads, parses and decodes it, and
  does nothing else. The goal is from a time when \`doPayment\` cost five times as much.

Claims a second beside the bare driver doing the same writes, at least 0.9 of it, have a bench of their own:
\`npm run bench -- claims\`.

## The figures

In µs. \`CPU\`, \`wall\`, the middle \`latency\` and \`p99\` are the median of ${rounds} rounds; \`least\` is the least of them.
Wall is the time of the whole run, divided by its calls. Latency is what one call waits. The gateway runs on the same
cores, so that wall and latency tell about this machine; CPU and its ratio tell more.

${sections.map(sectionText).join('\n\n')}

Measured on ${at.slice(0, 10)}${commit === null ? '' : ` at ${commit}`}, Node ${machine.node}, ${machine.platform},
${machine.cores} cores of ${machine.cpu}, ${machine.memoryGiB} GiB.

## How it is measured

- Every figure is of a fresh process: ${processes.join('; ')}, garbage collected in between. The same for every subject.
- Rounds are interleaved: each subject runs once in a round, and each round begins with another one. A ratio is
  taken within a round, and its median is shown.
- CPU is the process's own, user and system, by \`process.cpuUsage\`: all of its threads, the driver of SQLite included.
  The servers of PostgreSQL and Redis, the gateway, and the bank that posts callbacks are other processes and not counted.
- The gateway is one \`node:http\` server on loopback that answers at once, without TLS. Requests have the same fields as
  far as each client has them, and about the same size; so have answers. All connections are kept alive.
- Each subject looks whether its answer says success, and the run fails otherwise. \`test/bench\` checks what each sends.
- This package is measured as built (\`dist\`), in a Nest application on Fastify with the default settings, background
  work included. The host's logger is off. The 3D payments of callbacks are started before the clock is.
- The other clients neither store a payment nor judge an answer beyond its status; the naive way and the bare ones are
  written in \`bench/payments\`, the peers' in \`bench/peers\`.

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
  return format(page, { ...(await resolveConfig('docs/performance.md')), parser: 'markdown' });
}

function sectionText(section: Section): string {
  return `### ${titleOf(section)}\n\n${markdownTable(headsOf(section), section.rows.map(cellsOf))}`;
}

function markdownTable(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const rule = heads.map((_head, column) => (column === 0 ? '---' : '--:'));
  return [heads, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
