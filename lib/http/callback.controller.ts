import type { IncomingMessage } from 'node:http';
import {
  BadRequestException,
  type CanActivate,
  Controller,
  createParamDecorator,
  type ExecutionContext,
  Get,
  Inject,
  Injectable,
  mixin,
  NotFoundException,
  Post,
  Req,
  Res,
  type Type,
  VERSION_NEUTRAL,
} from '@nestjs/common';
import { PaymentCallbackError } from '../errors/payment-errors.js';
import { DEFAULT_ACCOUNT } from '../payment/account.js';
import { CallbackReceiver, type ReceivedCallback } from './callback-receiver.js';
import { CallbackResponder } from './callback-responder.js';
import type { HttpResponse } from './pages.js';

const ROUTES = [':token/return', ':token/fail'];

/**
 * Makes the controller that the bank sends the buyer back to, one for each registration, with its own path and
 * decorators. Both routes lead to Auth3d; which one was called decides nothing.
 */
export function createCallbackController(path: string, decorators: readonly ClassDecorator[] = []): Type<unknown> {
  @Controller({ path, version: VERSION_NEUTRAL })
  class PaymentCallbackController {
    constructor(
      @Inject(CallbackReceiver) private readonly receiver: CallbackReceiver,
      @Inject(CallbackResponder) private readonly responder: CallbackResponder,
    ) {}

    @Get(ROUTES)
    async get(@Req() request: CallbackRequest, @Res() response: HttpResponse): Promise<void> {
      await this.answer(request, response);
    }

    @Post(ROUTES)
    async post(@Req() request: CallbackRequest, @Res() response: HttpResponse): Promise<void> {
      await this.answer(request, response);
    }

    private async answer(request: CallbackRequest, response: HttpResponse): Promise<void> {
      if (isPrefetch(request)) return this.responder.sendNothing(response);
      const acceptLanguage = request.headers['accept-language'];
      try {
        const result = await this.receiver.complete(receivedToken(request), receivedFields(request));
        this.responder.sendOn(response, result, acceptLanguage, isInFrame(request));
      } catch (error) {
        this.responder.refuse(response, error, acceptLanguage);
      }
    }
  }
  for (const decorate of decorators) decorate(PaymentCallbackController);
  return PaymentCallbackController;
}

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
      if (isPrefetch(request)) throw new PaymentCallbackError('not_a_callback');
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

/** The parts of an Express or Fastify request that are read. */
export interface CallbackRequest {
  readonly method: string;
  readonly headers: IncomingMessage['headers'];
  readonly params?: unknown;
  readonly query?: unknown;
  readonly body?: unknown;
}

/** Whether a browser or proxy is only prefetching: this must have no effect. */
export function isPrefetch({ method, headers }: CallbackRequest): boolean {
  const purpose = [headers['sec-purpose'], headers['purpose'], headers['x-purpose'], headers['x-moz']].join(' ');
  return method === 'HEAD' || /prefetch|prerender|preview/i.test(purpose);
}

/**
 * Whether the browser shows the answer in a frame of a page, as it does where the gateway's form is embedded. Browsers
 * say so to sites with TLS, and to this machine.
 */
function isInFrame({ headers }: CallbackRequest): boolean {
  return ['iframe', 'frame'].includes(String(headers['sec-fetch-dest']));
}

/** The body's fields as the host's parser made them, or else the query's. */
export function receivedFields(request: CallbackRequest): unknown {
  return isEmpty(request.body) ? queryFields(request) : request.body;
}

/** The callback token in the route or the query; an empty text if there is none. */
export function receivedToken({ params, query }: CallbackRequest): string {
  return tokenIn(params) ?? tokenIn(query) ?? '';
}

/** A token in the query belongs to the merchant's URL, not to the bank's fields. */
function queryFields({ params, query }: CallbackRequest): unknown {
  if (tokenIn(params) !== null || tokenIn(query) === null) return query;
  return Object.fromEntries(Object.entries(query as object).filter(([name]) => name !== 'token'));
}

function tokenIn(holder: unknown): string | null {
  const token = (holder as { token?: unknown } | null | undefined)?.token;
  return typeof token === 'string' ? token : null;
}

function isEmpty(body: unknown): boolean {
  return body === undefined || body === null || (typeof body === 'object' && Object.keys(body).length === 0);
}
