import { type ArgumentsHost, Catch } from '@nestjs/common';
import {
  PaymentExceptionFilter,
  PaymentValidationError,
} from 'nestjs-card-payment';
import { OrderService } from './order.service.js';
import { cardForm, CHECKOUT, isOnForm } from './pages.js';
import { LANGUAGE } from './texts.js';

interface FormRequest {
  readonly params: { readonly id: string };
  readonly body: Readonly<Record<string, unknown>>;
}

interface Answer {
  status(code: number): Answer;
  send(html: string): unknown;
}

/** Errors become pages for the buyer, refused input the form again. */
@Catch()
export class ErrorPages extends PaymentExceptionFilter {
  constructor(private readonly orders: OrderService) {
    super({ language: LANGUAGE, shopUrl: CHECKOUT });
  }

  override catch(error: unknown, host: ArgumentsHost): void {
    const issues =
      error instanceof PaymentValidationError ? error.issuesIn(LANGUAGE) : [];
    if (issues.length === 0 || !issues.every(({ path }) => isOnForm(path)))
      return super.catch(error, host);
    const http = host.switchToHttp();
    const { params, body } = http.getRequest<FormRequest>();
    const messages = Object.fromEntries(
      issues.map(({ path, message }) => [path, message]),
    );
    const html = cardForm(this.orders.find(params.id).total, messages, body);
    http.getResponse<Answer>().status(400).send(html);
  }
}
