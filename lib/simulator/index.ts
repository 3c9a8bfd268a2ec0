/**
 * A gateway and a bank over HTTP, with test cards and faults on demand.
 *
 * @packageDocumentation
 */

export { JsonNumber, type JsonObject, type JsonValue } from './wire-values.js';
export type { FaultHandle, FaultMoment, FaultOptions, FaultPlay, RecordedRequest, WireReply } from './faults.js';
export type {
  Charge,
  ChargeRefund,
  Decision,
  HostedOperation,
  RefundOperation,
  SimulatorLedger,
  SimulatorOperation,
  Violation,
} from './ledger.js';
export {
  currentTestCards,
  MAGIC_AMOUNTS,
  MAGIC_PASSWORDS,
  MAGIC_REFUNDS,
  SMS_CODE,
  TEST_CARDS,
  type MagicAmount,
  type MagicPassword,
  type MagicRefund,
  type TestCard,
} from './test-data.js';
export { REFUSAL_CODES } from './requests.js';
export { describeSimulator, startSimulator, type Simulator } from './simulator.js';
export {
  SIMULATOR_CREDENTIALS,
  type SimulatorCredentials,
  type SimulatorDialect,
  type SimulatorOptions,
} from './simulator-options.js';
export type { BankCallback, HostedCallback, PayAtPageOptions } from './visits.js';
