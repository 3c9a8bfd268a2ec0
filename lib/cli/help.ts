import { type Command, OPTIONS } from './command.js';
import { COMMANDS } from './commands.js';

const STATUSES = `Exit status: 0 done, and the result is good; 1 failed, or the result is bad;
2 the arguments or the settings are wrong, and nothing was tried.
`;

/** The help of all commands, or of those of a group: `payments `. */
export function helpOfAll(group = ''): string {
  const commands = Object.entries(COMMANDS).filter(([name]) => name.startsWith(group));
  const list = rows(commands.map(([name, { args, summary }]) => [[name, ...args].join(' '), summary]));
  if (group !== '') {
    return `Usage: nestjs-card-payment ${group}COMMAND [OPTIONS]

Commands:
${list}

"nestjs-card-payment ${group}COMMAND --help" explains each of them.
`;
  }
  return `nestjs-card-payment: card payments for NestJS

Usage: nestjs-card-payment COMMAND [OPTIONS]

Commands:
${list}

Options of every command:
${rows([
  ['--help, -h', 'Shows the help of a command; so does "help COMMAND".'],
  ['--version, -v', 'Shows the version.'],
])}

${STATUSES}`;
}

export function helpOf(name: string, { summary, args, options, notes }: Command): string {
  const names = options.map((option): [string, string] => {
    const { about, ...more } = OPTIONS[option];
    return [`--${option}${'value' in more ? ` ${more.value}` : ''}`, about];
  });
  return `${summary}

Usage: nestjs-card-payment ${[name, ...args].join(' ')} [OPTIONS]

Options:
${rows([...names, ['--help, -h', OPTIONS.help.about]])}
${notes === undefined ? '' : `\n${notes}\n`}
${STATUSES}`;
}

function rows(pairs: readonly (readonly [string, string])[]): string {
  const width = Math.max(...pairs.map(([name]) => name.length));
  return pairs.map(([name, about]) => `  ${name.padEnd(width)}  ${about}`).join('\n');
}
