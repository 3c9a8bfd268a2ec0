import { InternalServerError, type Order } from '@vendure/core';
import { EUR, fromMinorUnits, GBP, toMinorUnits, TRY, USD } from 'nestjs-card-payment';

/** Vendure names currencies by letters, gateways by numbers. */
export function currencyCodeOf({ currencyCode }: Order): number {
  const codes: Partial<Record<string, number>> = { EUR, GBP, TRY, USD };
  const code = codes[currencyCode];
  if (code === undefined) throw new InternalServerError(`An order in ${currencyCode} cannot be paid by card`);
  return code;
}

/** `'149.90'` of Vendure's 14990. */
export const majorUnits = (amount: number, order: Order): string => fromMinorUnits(amount, currencyCodeOf(order));

/** Vendure's 14990 of `'149.90'`. */
export const minorUnits = (amount: string, order: Order): number => Number(toMinorUnits(amount, currencyCodeOf(order)));
