import type { Request, Response } from 'express';
import { readCookie } from '../visitor/cookie.js';

/** A product and its quantity, in a cookie such as `cup.2~vase.1`. Prices are only in the catalogue. */
export interface BasketEntry {
  readonly productId: string;
  readonly quantity: number;
}

const COOKIE = 'basket';
const ENTRY = /^([a-z-]+)\.([1-9])$/;
const A_MONTH_MS = 30 * 86_400_000;

export function readBasket(request: Request): BasketEntry[] {
  return (readCookie(request, COOKIE) ?? '').split('~').flatMap((entry) => {
    const [, productId, quantity] = ENTRY.exec(entry) ?? [];
    return productId ? [{ productId, quantity: Number(quantity) }] : [];
  });
}

export function countInCookie(request: Request): number {
  return readBasket(request).reduce((sum, { quantity }) => sum + quantity, 0);
}

export function writeBasket(response: Response, entries: readonly BasketEntry[]): void {
  const value = entries.map(({ productId, quantity }) => `${productId}.${quantity}`).join('~');
  response.cookie(COOKIE, value, { httpOnly: true, sameSite: 'lax', maxAge: A_MONTH_MS, encode: String });
}
