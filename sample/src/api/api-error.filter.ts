import { Catch, HttpException } from '@nestjs/common';
import { PaymentError, PaymentExceptionFilter } from 'nestjs-card-payment';

/** Programs get errors as JSON, with `tellBuyer`. Visitors get pages, from `ShopExceptionFilter`. */
@Catch(PaymentError, HttpException)
export class ApiErrorFilter extends PaymentExceptionFilter {}
