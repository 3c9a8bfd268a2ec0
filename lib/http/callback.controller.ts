import { Controller, Get, Inject, Post, Req, Res, type Type, VERSION_NEUTRAL } from '@nestjs/common';
import { CallbackReceiver } from './callback-receiver.js';
import { type CallbackRequest, isInFrame, isLookingAhead, receivedFields, receivedToken } from './callback-request.js';
import { CallbackResponder } from './callback-responder.js';

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
    async get(@Req() request: unknown, @Res() response: unknown): Promise<void> {
      await this.answer(request as CallbackRequest, response);
    }

    @Post(ROUTES)
    async post(@Req() request: unknown, @Res() response: unknown): Promise<void> {
      await this.answer(request as CallbackRequest, response);
    }

    private async answer(request: CallbackRequest, response: unknown): Promise<void> {
      if (isLookingAhead(request)) return this.responder.nothing(response);
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
