import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { countInCookie } from '../basket/basket-cookie.js';
import { type Language, languageOf } from './language.js';

/** What every page needs to know about its visitor. */
export interface Visitor {
  readonly language: Language;
  readonly basketCount: number;
}

/** The visitor who sent the request, for handlers that show a page. */
export const CurrentVisitor = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  visitorOf(context.switchToHttp().getRequest<Request>()),
);

export function visitorOf(request: Request): Visitor {
  return { language: languageOf(request), basketCount: countInCookie(request) };
}
