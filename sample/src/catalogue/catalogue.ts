import { Injectable } from '@nestjs/common';
import { DemoGateway } from '../demo/demo-gateway.js';
import { POSTCARDS } from '../demo/postcards.js';
import type { Product } from './product.js';
import { PRODUCTS } from './products.js';

@Injectable()
export class Catalogue {
  readonly products = PRODUCTS;
  /** Products whose price makes the simulator decline or fail; there are none with a real gateway. */
  readonly postcards: readonly Product[];

  constructor(demo: DemoGateway) {
    this.postcards = demo.isOn ? POSTCARDS : [];
  }

  find(id: string): Product | undefined {
    return [...this.products, ...this.postcards].find((product) => product.id === id);
  }
}
