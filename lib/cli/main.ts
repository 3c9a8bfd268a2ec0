#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { PaymentError } from '../errors/payment.error.js';
import { SIMULATED_DIALECTS } from '../simulator/dialects/dialects.js';
import { SQL_ENGINES } from '../store/sql/engines.js';
import { paymentsCommand } from './payments.command.js';
import { schemaCommand } from './schema.command.js';
import { simulateCommand } from './simulate.command.js';
import { UsageError } from './usage.error.js';

const USAGE = `nestjs-card-payment: card payments for NestJS

  simulate [--port 4010] [--host 127.0.0.1] [--public-url URL] [--dialect ${Object.keys(SIMULATED_DIALECTS).join('|')}]
      A gateway and a bank to try payments against. Takes no real card.
  schema --dialect ${SQL_ENGINES.map(({ name }) => name).join('|')}
      The tables, for those who run their own migrations.
  payments list [--state unknown,review]      payments that need a person
  payments show CONVERSATION_ID               one payment and its history
  payments resolve CONVERSATION_ID succeeded|failed --note "who found out, and how"
  payments parked                             events whose handler kept failing
  payments replay HANDLER_ID EVENT_ID         delivers a parked event again
      The store is PAYMENT_STORE_URL (also from .env) or --store URL; --account NAME for a named account, whose
      store is PAYMENT_<NAME>_STORE_URL.
`;

const COMMANDS: Readonly<Record<string, (words: string[]) => Promise<string> | string>> = {
  simulate: simulateCommand,
  schema: schemaCommand,
  payments: paymentsCommand,
};

async function main([name = '', ...words]: string[]): Promise<number> {
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!command) {
    const isHelp = name === '' || name === 'help' || name === '--help';
    (isHelp ? process.stdout : process.stderr).write(USAGE);
    return isHelp ? 0 : 2;
  }
  try {
    if (existsSync('.env')) process.loadEnvFile('.env');
    process.stdout.write(`${await command(words)}\n`);
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError) && !(error instanceof PaymentError)) throw error;
    process.stderr.write(`${error.message}\n${error instanceof UsageError ? `\n${USAGE}` : ''}`);
    return error instanceof UsageError ? 2 : 1;
  }
}

process.exitCode = await main(process.argv.slice(2));
