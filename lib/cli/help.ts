import type { Command } from './command.js';

const STATUSES = `Exit status: 0 done, and the result is good; 1 failed, or the result is bad;
2 the arguments or the settings are wrong, and nothing was tried.`;

/** The help of all commands. */
export function helpOfAll(commands: readonly Command[]): string {
  return `nestjs-card-payment: card payments for NestJS

Usage: nestjs-card-payment COMMAND [OPTIONS]

${listOf(commands)}

Options of every command:
${rows([
  ['--help, -h', 'Shows the help of a command; so does "help COMMAND".'],
  ['--version, -v', 'Shows the version.'],
])}

${STATUSES}
`;
}

/** The help of the commands that begin with the same word. */
export function helpOfGroup(group: string, commands: readonly Command[]): string {
  return `Usage: nestjs-card-payment ${group} COMMAND [OPTIONS]

${listOf(commands)}

"nestjs-card-payment ${group} COMMAND --help" explains each of them.
`;
}

export function helpOf({ name, summary, words, options, notes }: Command): string {
  const names = Object.entries(options).map(([option, { value, short, about }]): [string, string] => [
    `--${option}${value === undefined ? '' : ` ${value}`}${short === undefined ? '' : `, -${short}`}`,
    about,
  ]);
  return `${summary}

Usage: nestjs-card-payment ${[name, ...words].join(' ')} [OPTIONS]

Options:
${rows(names)}
${notes === undefined ? '' : `\n${notes}\n`}
${STATUSES}
`;
}

function listOf(commands: readonly Command[]): string {
  return `Commands:
${rows(commands.map(({ name, words, summary }) => [[name, ...words].join(' '), summary]))}`;
}

function rows(pairs: readonly (readonly [string, string])[]): string {
  const width = Math.max(...pairs.map(([name]) => name.length));
  return pairs.map(([name, about]) => `  ${name.padEnd(width)}  ${about}`).join('\n');
}
