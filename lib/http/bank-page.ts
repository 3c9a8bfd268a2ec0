import {
  applyDecorators,
  type CallHandler,
  type ExecutionContext,
  HttpCode,
  Injectable,
  type NestInterceptor,
  UseInterceptors,
  UsePipes,
} from '@nestjs/common';
import { map, type Observable } from 'rxjs';
import { FormFieldsPipe } from './payment-validation.pipe.js';

/** What Express's response and Fastify's reply have in common. */
interface HeaderTaker {
  header(name: string, value: string): unknown;
}

@Injectable()
class BankPageInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const response = context.switchToHttp().getResponse<HeaderTaker>();
    return next.handle().pipe(
      map((page: unknown) => {
        // Set only now, so that an error is answered without them.
        if (typeof page === 'string') {
          for (const [name, value] of Object.entries(BANK_PAGE_HEADERS)) response.header(name, value);
        }
        return page;
      }),
    );
  }
}

/** Can be applied to a route that returns the page itself: an object would be sent to the buyer as JSON. */
export type BankPageDecorator = <Route extends (...given: never[]) => string | Promise<string>>(
  prototype: object,
  name: string | symbol,
  descriptor: TypedPropertyDescriptor<Route>,
) => void;

/**
 * For the route that returns the bank's page, `html` of `init3d`: answers with status 200 and
 * {@link BANK_PAGE_HEADERS}, on Express and Fastify. An error or a redirect of that route is answered without these
 * headers. A form whose parser did not nest its fields (`cardDetails.cardNo`) is nested, so that it works without
 * `paymentValidationPipe`, too.
 *
 * ```ts
 * @Post('orders/:id/pay')
 * @BankPage()
 * pay(@Param('id') id: string, @Body() checkout: CheckoutDto): Promise<string> {
 *   return this.orders.startPayment(id, checkout);
 * }
 * ```
 */
export function BankPage(): BankPageDecorator {
  return applyDecorators(HttpCode(200), UseInterceptors(BankPageInterceptor), UsePipes(FormFieldsPipe));
}

/**
 * The headers for the bank's page (`html` of `init3d`). Without them the page would run another party's scripts in your
 * shop's origin. The sandbox gives it an origin of its own: it can post its forms and go to the bank, but cannot read
 * your shop's cookies, storage, pages or answers. Show it in the window of the checkout: a page in a second window
 * could not read the first either, but could navigate it elsewhere.
 *
 * Replace headers of the same names by these; together with a Content-Security-Policy of your own, the page would not
 * work. Unverified with real banks: if a bank needs cookies on this page, send it without the sandbox, from a host name
 * that has no cookies and serves nothing else.
 */
export const BANK_PAGE_HEADERS = Object.freeze({
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-store',
  // No form-action: browsers apply it to redirects, too, and the hosts that an issuer redirects to are not known.
  'Content-Security-Policy':
    'sandbox allow-forms allow-scripts allow-top-navigation allow-popups allow-popups-to-escape-sandbox; ' +
    "frame-ancestors 'none'",
});
