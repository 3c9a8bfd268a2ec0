import {
  applyDecorators,
  type CallHandler,
  type ExecutionContext,
  HttpCode,
  Injectable,
  type NestInterceptor,
  UseInterceptors,
} from '@nestjs/common';
import { map, type Observable } from 'rxjs';
import { BANK_PAGE_HEADERS } from '../payment/bank-page-headers.js';

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

/**
 * For the route that returns the bank's page, `html` of `init3d`: answers with status 200 and
 * {@link BANK_PAGE_HEADERS}, on Express and Fastify. An error or a redirect of that route is answered without these
 * headers.
 *
 * ```ts
 * @Post('orders/:id/pay')
 * @BankPage()
 * pay(@Param('id') id: string, @Body() checkout: CheckoutDto): Promise<string> {
 *   return this.orders.startPayment(id, checkout);
 * }
 * ```
 */
export function BankPage(): MethodDecorator {
  return applyDecorators(HttpCode(200), UseInterceptors(BankPageInterceptor));
}
