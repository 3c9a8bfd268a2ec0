import { Catch, HttpException } from '@nestjs/common';
import { PaymentError, PaymentExceptionFilter } from 'nestjs-card-payment';

/** To a program, errors are JSON, with `tellBuyer`; to a visitor, they are pages (`ShopExceptionFilter`). */
@Catch(PaymentError, HttpException)
export class ApiErrorFilter extends PaymentExceptionFilter {}
