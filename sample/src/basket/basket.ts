import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Catalogue } from '../catalogue/catalogue.js';
import type { Product } from '../catalogue/product.js';
import { type BasketEntry, readBasket, writeBasket } from './basket-cookie.js';

export interface BasketLine {
  readonly product: Product;
  readonly quantity: number;
}

/** How many of one product a visitor can buy. */
export const MAX_QUANTITY = 9;

/** What the visitor wants to buy. */
@Injectable()
export class Basket {
  constructor(private readonly catalogue: Catalogue) {}

  /** Visitors can edit the cookie, so unknown products are left out, and a repeated one counts once. */
  read(request: Request): BasketLine[] {
    const quantities = new Map(readBasket(request).map(({ productId, quantity }) => [productId, quantity]));
    return [...quantities].flatMap(([productId, quantity]) => {
      const product = this.catalogue.find(productId);
      return product ? [{ product, quantity }] : [];
    });
  }

  add(request: Request, response: Response, productId: string): void {
    const line = this.read(request).find(({ product }) => product.id === productId);
    this.set(request, response, productId, (line?.quantity ?? 0) + 1);
  }

  /** A quantity of 0 removes the product. */
  set(request: Request, response: Response, productId: string, quantity: number): void {
    if (!this.catalogue.find(productId) || !Number.isInteger(quantity)) return;
    const quantities = new Map(this.read(request).map((line) => [line.product.id, line.quantity]));
    quantities.set(productId, Math.min(quantity, MAX_QUANTITY));
    const entries = [...quantities].map(([id, count]) => ({ productId: id, quantity: count }));
    writeBasket(
      response,
      entries.filter((entry) => entry.quantity > 0),
    );
  }

  /**
   * Empties the basket after its order was paid, unless the visitor has changed the basket since.
   * @returns whether it was emptied
   */
  emptyAfter(request: Request, response: Response, ordered: readonly BasketEntry[]): boolean {
    const text = (entries: readonly BasketEntry[]): string =>
      entries.map(({ productId, quantity }) => `${productId}.${quantity}`).join();
    const isOrdered = text(readBasket(request)) === text(ordered);
    if (isOrdered) writeBasket(response, []);
    return isOrdered;
  }
}

/** In kuruş. */
export function totalOf(lines: readonly BasketLine[]): number {
  return lines.reduce((sum, { product, quantity }) => sum + product.kurus * quantity, 0);
}
