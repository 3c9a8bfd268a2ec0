import { Inject } from '@nestjs/common';
import { DEFAULT_ACCOUNT } from './payment/account.js';
import { PaymentService } from './payment.service.js';
import { PaymentSimulator } from './payment.simulator.js';

export { paymentHealthToken } from './health/payment-health.js';

/**
 * The private `HttpService` (@nestjs/axios) that requests go through, for interceptors that trace or measure. It sends
 * nothing for anyone else, and no request twice.
 */
export const PAYMENT_HTTP = Symbol.for('nestjs-card-payment:http');

/** The options as given, before variables and defaults; hidden from whoever prints the container. */
export const PAYMENT_OPTIONS = Symbol.for('nestjs-card-payment:options');

/** Under what the module of one account finds its own simulator. */
export const OWN_SIMULATOR = Symbol.for('nestjs-card-payment:own-simulator');

/** Under what an account's `PaymentService` is injected. */
export function paymentToken(name: string = DEFAULT_ACCOUNT): symbol | typeof PaymentService {
  return name === DEFAULT_ACCOUNT ? PaymentService : Symbol.for(`nestjs-card-payment:service:${name}`);
}

/** Under what an account's `HttpService` is injected: {@link PAYMENT_HTTP} for the unnamed one. */
export function paymentHttpToken(name: string = DEFAULT_ACCOUNT): symbol {
  return name === DEFAULT_ACCOUNT ? PAYMENT_HTTP : Symbol.for(`nestjs-card-payment:http:${name}`);
}

/** Under what an account's `PaymentSimulator` is injected: the class itself for the unnamed one. */
export function paymentSimulatorToken(name: string = DEFAULT_ACCOUNT): symbol | typeof PaymentSimulator {
  return name === DEFAULT_ACCOUNT ? PaymentSimulator : Symbol.for(`nestjs-card-payment:simulator:${name}`);
}

/** Injects the `PaymentService` of a `name`d account. */
export function InjectPayment(name?: string): ParameterDecorator & PropertyDecorator {
  return Inject(paymentToken(name));
}
