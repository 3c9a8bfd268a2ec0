import { Inject } from '@nestjs/common';
import { DEFAULT_ACCOUNT } from '../payment/account.js';
import { PaymentOperations } from '../operations/staff.js';
import { PaymentService } from '../payment.service.js';
import { PaymentSimulator } from './payment-simulator.js';

export { paymentHealthToken } from '../health/payment-health.js';

/**
 * The private `HttpService` (@nestjs/axios) through which requests are sent, for interceptors that trace or measure. It
 * sends nothing for anyone else, and no request twice.
 */
export const PAYMENT_HTTP = Symbol.for('nestjs-card-payment:http');

/** The options as given, before variables and defaults; hidden when the container is printed. */
export const PAYMENT_OPTIONS = Symbol.for('nestjs-card-payment:options');

/** The injection token of an account's simulator inside its own module. */
export const OWN_SIMULATOR = Symbol.for('nestjs-card-payment:own-simulator');

/** The injection token of an account's `PaymentHealth` inside its own module. */
export const OWN_HEALTH = Symbol.for('nestjs-card-payment:own-health');

/** The injection token of an account's `PaymentService`. */
export function paymentToken(name: string = DEFAULT_ACCOUNT): symbol | typeof PaymentService {
  return name === DEFAULT_ACCOUNT ? PaymentService : Symbol.for(`nestjs-card-payment:service:${name}`);
}

/** The injection token of an account's `PaymentOperations`: the class itself for the unnamed account. */
export function paymentOperationsToken(name: string = DEFAULT_ACCOUNT): symbol | typeof PaymentOperations {
  return name === DEFAULT_ACCOUNT ? PaymentOperations : Symbol.for(`nestjs-card-payment:operations:${name}`);
}

/** The injection token of an account's `HttpService`: {@link PAYMENT_HTTP} for the unnamed account. */
export function paymentHttpToken(name: string = DEFAULT_ACCOUNT): symbol {
  return name === DEFAULT_ACCOUNT ? PAYMENT_HTTP : Symbol.for(`nestjs-card-payment:http:${name}`);
}

/** The injection token of an account's `PaymentSimulator`: the class itself for the unnamed account. */
export function paymentSimulatorToken(name: string = DEFAULT_ACCOUNT): symbol | typeof PaymentSimulator {
  return name === DEFAULT_ACCOUNT ? PaymentSimulator : Symbol.for(`nestjs-card-payment:simulator:${name}`);
}

/** Injects the `PaymentService` of the account of that name. */
export function InjectPayment(name?: string): ParameterDecorator & PropertyDecorator {
  return Inject(paymentToken(name));
}

/** Injects the `PaymentOperations` of the account of that name. */
export function InjectPaymentOperations(name?: string): ParameterDecorator & PropertyDecorator {
  return Inject(paymentOperationsToken(name));
}
