import { ForbiddenException } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { NextFunction, Request, Response } from 'express';
import { API_PAGE, API_PAGE_POLICY, serveApiPage } from './api/api-page.js';
import { PUBLIC_DIRECTORY } from './data-files.js';
import { ShopExceptionFilter } from './shop-exception.filter.js';
import { switchLanguage } from './visitor/language.js';

/** Sets the application up, both for `npm start` and in the tests. */
export function configureShop(app: NestExpressApplication): void {
  app.disable('x-powered-by');
  // The number of proxies before the shop: the visitor's address is the one that the first of them saw.
  app.set('trust proxy', Number(process.env.SHOP_PROXIES ?? 0));
  app.use(securityHeaders, refuseForeignForms, switchLanguage);
  app.useStaticAssets(PUBLIC_DIRECTORY, { prefix: '/assets/' });
  app.useGlobalFilters(new ShopExceptionFilter());
  app.enableShutdownHooks();
  serveApiPage(app);
}

const POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; " +
  "base-uri 'none'; frame-ancestors 'none'";

function securityHeaders(request: Request, response: Response, next: NextFunction): void {
  response.set({
    'Content-Security-Policy': request.path.startsWith(API_PAGE) ? API_PAGE_POLICY : POLICY,
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'same-origin',
  });
  next();
}

/** Refuses forms posted by other sites, except the bank's, which goes to the payment module. */
function refuseForeignForms(request: Request, _response: Response, next: NextFunction): void {
  const site = request.headers['sec-fetch-site'];
  const isForeign = site !== undefined && site !== 'same-origin' && site !== 'none';
  const isOurs = request.method === 'POST' && !request.path.startsWith('/payments/');
  next(isForeign && isOurs ? new ForbiddenException() : undefined);
}
