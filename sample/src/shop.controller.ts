import { Controller, Get } from '@nestjs/common';
import { Catalogue } from './catalogue/catalogue.js';
import { shopPage } from './pages/shop-page.js';
import { CurrentVisitor, type Visitor } from './visitor/visitor.js';

@Controller()
export class ShopController {
  constructor(private readonly catalogue: Catalogue) {}

  @Get()
  show(@CurrentVisitor() visitor: Visitor): string {
    return shopPage(this.catalogue, visitor);
  }
}
