export type { BankCallback } from './bank.js';
export { SIMULATOR_CREDENTIALS, type SimulatorCredentials } from './credentials.js';
export { describeSimulator } from './describe-simulator.js';
export type { SimulatorDialect } from './dialects/dialects.js';
export type { SignedRequestFields } from './dialects/simulated-dialect.js';
export { JsonNumber, type JsonObject, type JsonValue } from './exact-json.js';
export type { FaultPlay, WireReply } from './fault-play.js';
export type { FaultHandle, FaultMoment, FaultOptions } from './faults.js';
export type { Charge, Decision, SimulatorLedger, SimulatorOperation, Violation } from './ledger.js';
export {
  currentTestCards,
  MAGIC_AMOUNTS,
  MAGIC_PASSWORDS,
  SMS_CODE,
  TEST_CARDS,
  type MagicAmount,
  type MagicPassword,
  type TestCard,
} from './magic.js';
export { FAULT_NAMES, type FaultName } from './named-faults.js';
export type { RecordedRequest } from './recorded-request.js';
export { REFUSAL_CODES } from './refusal.js';
export { startSimulator, type Simulator } from './simulator.js';
export type { InquiryAnswer, SimulatorCallback, SimulatorOptions } from './simulator-options.js';
