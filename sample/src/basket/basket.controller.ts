import { Body, Controller, Get, Post, Redirect, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { formText } from '../form-text.js';
import { basketPage } from '../pages/basket-page.js';
import { CurrentVisitor, type Visitor } from '../visitor/visitor.js';
import { Basket } from './basket.js';

@Controller('basket')
export class BasketController {
  constructor(private readonly basket: Basket) {}

  @Get()
  show(@Req() request: Request, @CurrentVisitor() visitor: Visitor): string {
    return basketPage(this.basket.read(request), visitor);
  }

  @Post('add')
  @Redirect('/basket', 303)
  add(@Req() request: Request, @Res({ passthrough: true }) response: Response, @Body() form: unknown): void {
    this.basket.add(request, response, formText(form, 'product'));
  }

  @Post('quantity')
  @Redirect('/basket', 303)
  quantity(@Req() request: Request, @Res({ passthrough: true }) response: Response, @Body() form: unknown): void {
    this.basket.set(request, response, formText(form, 'product'), Number(formText(form, 'quantity')));
  }
}
