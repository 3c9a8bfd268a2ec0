import {
  Controller,
  createParamDecorator,
  type ExecutionContext,
  Get,
  Inject,
  Post,
  Res,
  type Type,
  VERSION_NEUTRAL,
} from '@nestjs/common';
import { Desk } from './desk.js';

/** The host's `staffOf` gets it. */
const Context = createParamDecorator((_data: unknown, context: ExecutionContext) => context);

/** Makes the controller of one desk. It has all routes, so that the host's guards are before each. */
export function createDeskController(path: string, decorators: readonly ClassDecorator[] = []): Type<unknown> {
  @Controller({ path, version: VERSION_NEUTRAL })
  class PaymentDeskController {
    constructor(@Inject(Desk) private readonly desk: Desk) {}

    @Get()
    overview(@Context() context: ExecutionContext, @Res() _response: unknown): Promise<void> {
      return this.desk.overview(context);
    }

    @Get('desk.css')
    style(@Context() context: ExecutionContext, @Res() _response: unknown): Promise<void> {
      return this.desk.style(context);
    }

    @Get('payments')
    payments(@Context() context: ExecutionContext, @Res() _response: unknown): Promise<void> {
      return this.desk.payments(context);
    }

    @Get('payments/:id')
    payment(@Context() context: ExecutionContext, @Res() _response: unknown): Promise<void> {
      return this.desk.payment(context);
    }

    @Get(['payments/:id/review', 'payments/:id/acts'])
    backToPayment(@Context() context: ExecutionContext, @Res() _response: unknown): Promise<void> {
      return this.desk.backToPayment(context);
    }

    @Post('payments/:id/review')
    review(@Context() context: ExecutionContext, @Res() _response: unknown): Promise<void> {
      return this.desk.review(context);
    }

    @Post('payments/:id/acts')
    act(@Context() context: ExecutionContext, @Res() _response: unknown): Promise<void> {
      return this.desk.act(context);
    }

    @Get('deliveries')
    deliveries(@Context() context: ExecutionContext, @Res() _response: unknown): Promise<void> {
      return this.desk.deliveries(context);
    }

    @Get('deliveries/replay')
    backToDeliveries(@Context() context: ExecutionContext, @Res() _response: unknown): Promise<void> {
      return this.desk.backToDeliveries(context);
    }

    @Post('deliveries/replay')
    replay(@Context() context: ExecutionContext, @Res() _response: unknown): Promise<void> {
      return this.desk.replay(context);
    }
  }
  for (const decorate of decorators) decorate(PaymentDeskController);
  return PaymentDeskController;
}
