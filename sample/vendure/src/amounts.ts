import { InternalServerError, type Order } from '@vendure/core';
import { EUR, fromMinorUnits, GBP, toMinorUnits, TRY, USD } from 'nestjs-card-payment';

/** Vendure names currencies by letters, gateways by numbers. */
const CODES: Readonly<Record<string, number>> = { EUR, GBP, TRY, USD };

export function currencyCodeOf({ currencyCode }: Order): number {
  const code = CODES[currencyCode];
  if (code === undefined) throw new InternalServerError(`An order in ${currencyCode} cannot be paid by card`);
  return code;
}

/** `'149.90'` of Vendure's 14990. */
export const majorUnits = (amount: number, order: Order): string => fromMinorUnits(amount, currencyCodeOf(order));

/** Vendure's 14990 of `'149.90'`. */
export const minorUnits = (amount: string, order: Order): number => Number(toMinorUnits(amount, currencyCodeOf(order)));
