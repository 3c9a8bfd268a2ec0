import type { Command } from './command.js';
import { doctorCommand } from './doctor/doctor.command.js';
import { inquirePaymentCommand } from './payments/inquire-payment.command.js';
import { listPaymentsCommand } from './payments/list-payments.command.js';
import { parkedDeliveriesCommand } from './payments/parked-deliveries.command.js';
import { paymentStatsCommand } from './payments/payment-stats.command.js';
import { replayDeliveryCommand } from './payments/replay-delivery.command.js';
import { resolvePaymentCommand } from './payments/resolve-payment.command.js';
import { showPaymentCommand } from './payments/show-payment.command.js';
import { schemaCommand } from './schema.command.js';
import { simulateCommand } from './simulate.command.js';

/** In the order of the help. */
export const COMMANDS: readonly Command[] = [
  doctorCommand,
  simulateCommand,
  schemaCommand,
  listPaymentsCommand,
  showPaymentCommand,
  paymentStatsCommand,
  inquirePaymentCommand,
  resolvePaymentCommand,
  parkedDeliveriesCommand,
  replayDeliveryCommand,
];
