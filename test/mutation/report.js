import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import prettier from 'prettier';
import { SURVIVORS } from './survivors.js';

const REPORT = 'docs/mutation.md';
/** In percent, of each part. */
const WANTED = 90;
const MAX_SHOWN = 100;

/** @param kind `incremental` for what spares Stryker to try the same change again */
export function resultsFile(file, kind = 'results') {
  return `reports/mutation/${file.replace(/^lib\/|\.ts$/g, '').replaceAll('/', '.')}.${kind}.json`;
}

/**
 * Writes the report from Stryker's results, and says what is wrong with them.
 *
 * @returns a line for each file without results, part below what is wanted, survivor without a reason and reason without
 * a survivor
 */
export async function writeReport(targets) {
  const missing = targets.flatMap(({ files }) => Object.keys(files)).filter((file) => !existsSync(resultsFile(file)));
  if (missing.length > 0) return [`No report before these are tried, too: ${missing.join(' ')}`];
  const parts = targets.map(({ part, files }) => ({ part, results: Object.keys(files).map(readResults) }));
  const options = await prettier.resolveConfig(REPORT);
  const written = readFileSync(REPORT, 'utf8').split('\n## Scores\n')[0];
  const text = `${written}\n## Scores\n\n${scores(parts)}\n\n## Survivors\n\n${survivors(parts)}\n`;
  writeFileSync(REPORT, await prettier.format(text, { ...options, filepath: REPORT }));
  return [...parts.flatMap(problemsOf), ...unusedReasons(parts)];
}

function readResults(file) {
  const { source, mutants } = JSON.parse(readFileSync(resultsFile(file), 'utf8')).files[file];
  const count = (...statuses) => mutants.filter(({ status }) => statuses.includes(status)).length;
  const survivors = mutants
    .filter(({ status }) => status === 'Survived' || status === 'NoCoverage')
    .map(({ location, replacement }) => {
      const change = `${shortened(snippet(source, location))} → ${shortened(replacement)}`;
      return { line: location.start.line, change, reason: reasonOf(file, change) };
    })
    .sort((a, b) => a.line - b.line);
  return { file, noticed: count('Killed', 'Timeout', 'RuntimeError'), survivors };
}

function reasonOf(file, change) {
  return SURVIVORS.find((group) => group.file === file && group.changes.includes(change))?.reason ?? null;
}

function snippet(source, { start, end }) {
  const lines = source.split('\n').slice(start.line - 1, end.line);
  lines[lines.length - 1] = lines.at(-1).slice(0, end.column - 1);
  lines[0] = lines[0].slice(start.column - 1);
  return lines.join('\n');
}

function shortened(code) {
  const line = code.replace(/\s+/g, ' ');
  return line.length > MAX_SHOWN ? `${line.slice(0, MAX_SHOWN)}…` : line;
}

function scoreOf(results) {
  const noticed = results.reduce((sum, result) => sum + result.noticed, 0);
  const survived = results.reduce((sum, { survivors }) => sum + survivors.length, 0);
  return { noticed, survived, percent: Math.floor((1000 * noticed) / (noticed + survived)) / 10 };
}

function scores(parts) {
  const row = (name, file, { noticed, survived, percent }) =>
    `| ${[name, file, noticed, survived, `${percent.toFixed(1)} %`].join(' | ')} |`;
  const rows = parts.flatMap(({ part, results }) => [
    ...results.map((result) => row(part, `\`${result.file}\``, scoreOf([result]))),
    ...(results.length > 1 ? [row(`**${part}**`, '', scoreOf(results))] : []),
  ]);
  const whole = row('**All**', '', scoreOf(parts.flatMap(({ results }) => results)));
  return ['| part | file | noticed | survived | score |', '|---|---|---:|---:|---:|', ...rows, whole].join('\n');
}

function survivors(parts) {
  return parts
    .flatMap(({ results }) => results)
    .filter(({ survivors }) => survivors.length > 0)
    .map((result) => `### \`${result.file}\`\n\n${reasons(result.survivors)}`)
    .join('\n\n');
}

/** Changes that survive for the same reason stand together. */
function reasons(survivors) {
  const all = [...new Set(survivors.map(({ reason }) => reason))];
  return all
    .map((reason) => {
      const lines = survivors
        .filter((one) => one.reason === reason)
        .map((one) => `line ${one.line}: ${code(one.change)}`);
      return `- ${reason ?? 'Not judged yet.'}\n${lines.map((line) => `  - ${line}`).join('\n')}`;
    })
    .join('\n');
}

function code(text) {
  return text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``;
}

function problemsOf({ part, results }) {
  const { percent } = scoreOf(results);
  const unjudged = results.flatMap(({ file, survivors }) =>
    survivors.filter(({ reason }) => reason === null).map(({ line, change }) => `${file}:${line} survived: ${change}`),
  );
  return percent < WANTED ? [`${part}: ${percent} %, less than ${WANTED} %`, ...unjudged] : unjudged;
}

function unusedReasons(parts) {
  const survived = new Set(
    parts.flatMap(({ results }) => results.flatMap(({ file, survivors }) => survivors.map((one) => file + one.change))),
  );
  return SURVIVORS.flatMap(({ file, changes }) =>
    changes.filter((change) => !survived.has(file + change)).map((change) => `${file}: survives no more: ${change}`),
  );
}
