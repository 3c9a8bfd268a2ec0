import {
  BadRequestException,
  type CanActivate,
  createParamDecorator,
  type ExecutionContext,
  Inject,
  Injectable,
  mixin,
  NotFoundException,
  type Type,
} from '@nestjs/common';
import { PaymentCallbackError } from '../errors/payment-errors.js';
import { DEFAULT_ACCOUNT } from '../payment/account.js';
import { CallbackReceiver, type ReceivedCallback } from './callback-receiver.js';
import { type CallbackRequest, isLookingAhead, receivedFields, receivedToken } from './callback-request.js';

const RECEIVED = Symbol.for('nestjs-card-payment:received-callback');

type GuardedRequest = CallbackRequest & { [RECEIVED]?: ReceivedCallback };

/**
 * For a merchant's own callback route, whose URL holds `{token}` (as the route parameter or query field `token`). It
 * makes the same checks as the built-in controller: it refuses with 404 for an unknown token and 400 for anything else,
 * and the payment is unchanged.
 */
@Injectable()
export class PaymentCallbackGuard implements CanActivate {
  /** @hidden */
  constructor(@Inject(CallbackReceiver.token(DEFAULT_ACCOUNT)) private readonly receiver: CallbackReceiver) {}

  /** The guard for the account of that name. */
  static for(name: string): Type<CanActivate> {
    @Injectable()
    class NamedPaymentCallbackGuard extends PaymentCallbackGuard {
      constructor(@Inject(CallbackReceiver.token(name)) receiver: CallbackReceiver) {
        super(receiver);
      }
    }
    return mixin(NamedPaymentCallbackGuard);
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<GuardedRequest>();
    try {
      if (isLookingAhead(request)) throw new PaymentCallbackError('not_a_callback');
      request[RECEIVED] = await this.receiver.receive(receivedToken(request), receivedFields(request));
      return true;
    } catch (error) {
      if (!(error instanceof PaymentCallbackError)) throw error;
      throw error.refusal === 'unknown_token'
        ? new NotFoundException(error.message)
        : new BadRequestException(error.message);
    }
  }
}

/** The callback that {@link PaymentCallbackGuard} has checked, as a {@link ReceivedCallback}. */
export const PaymentCallback = createParamDecorator((_data: unknown, context: ExecutionContext): ReceivedCallback => {
  const received = context.switchToHttp().getRequest<GuardedRequest>()[RECEIVED];
  if (!received)
    throw new BadRequestException('Put @UseGuards(PaymentCallbackGuard) on the route that uses @PaymentCallback().');
  return received;
});
