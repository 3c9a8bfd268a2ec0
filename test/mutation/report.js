import { readFileSync, writeFileSync } from 'node:fs';
import prettier from 'prettier';
import { isChanged, readFigures, reasonOf, scoreOf } from './figures.js';

const REPORT = 'docs/internals/mutation.md';

/** Writes the report from the figures of all parts, whenever each was measured. */
export async function writeReport(targets) {
  const parts = targets.map((target) => ({ ...target, figures: readFigures(target) }));
  const written = readFileSync(REPORT, 'utf8').split('\n## Scores\n')[0];
  const text = `${written}\n## Scores\n\n${scores(parts)}\n\n## Survivors\n\n${survivors(parts)}\n`;
  const options = await prettier.resolveConfig(REPORT);
  writeFileSync(REPORT, await prettier.format(text, { ...options, filepath: REPORT }));
}

function scores(parts) {
  const row = (name, file, { noticed, survived, percent }, measured) => {
    const score = noticed + survived === 0 ? 'nothing to change' : `${percent.toFixed(1)} %`;
    return `| ${[name, file, noticed, survived, score, measured].join(' | ')} |`;
  };
  const rows = parts.flatMap(({ name, files, figures }) => [
    ...Object.keys(files).map((file) =>
      figures[file]
        ? row(name, `\`${file}\``, scoreOf([figures[file]]), measuredAt(file, figures[file]))
        : `| ${name} | \`${file}\` | | | | not yet |`,
    ),
    ...(Object.keys(figures).length > 1 ? [row(`**${name}**`, '', scoreOf(Object.values(figures)), '')] : []),
  ]);
  const whole = row('**all**', '', scoreOf(parts.flatMap(({ figures }) => Object.values(figures))), '');
  return [
    '| part | file | noticed | survived | score | measured |',
    '|---|---|---:|---:|---:|---|',
    ...rows,
    whole,
  ].join('\n');
}

function measuredAt(file, figures) {
  return isChanged(file, figures) ? `${figures.measured}, changed since` : figures.measured;
}

function survivors(parts) {
  return parts
    .flatMap(({ figures }) => Object.entries(figures))
    .filter(([, { survivors }]) => survivors.length > 0)
    .map(([file, { survivors }]) => `### \`${file}\`\n\n${reasons(file, survivors)}`)
    .join('\n\n');
}

/** Changes that survive for the same reason stand together. */
function reasons(file, survivors) {
  const judged = survivors.map(({ line, change }) => ({ line, change, reason: reasonOf(file, change) }));
  const all = [...new Set(judged.map(({ reason }) => reason))];
  return all
    .map((reason) => {
      const lines = judged.filter((one) => one.reason === reason).map((one) => `line ${one.line}: ${code(one.change)}`);
      return `- ${reason ?? 'Not judged yet.'}\n${lines.map((line) => `  - ${line}`).join('\n')}`;
    })
    .join('\n');
}

function code(text) {
  return text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``;
}
