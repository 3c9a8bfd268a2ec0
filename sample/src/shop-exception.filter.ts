import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException, Logger } from '@nestjs/common';
import type { Request, Response } from 'express';
import { type Problem, problemPage } from './pages/problem-page.js';
import { visitorOf } from './visitor/visitor.js';

const PROBLEM_OF_STATUS: Readonly<Record<number, Problem>> = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'notFound',
  429: 'tooMany',
};

/** Shows a page for every error, without repeating anything that was sent. */
@Catch()
export class ShopExceptionFilter implements ExceptionFilter {
  private readonly logger = new Logger('Shop');

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const status = statusOf(error);
    if (status >= 500)
      this.logger.error(error instanceof Error ? error.stack : 'A value that is not an Error was thrown');
    const problem = PROBLEM_OF_STATUS[status] ?? (status < 500 ? 'refused' : 'unavailable');
    const response = http.getResponse<Response>();
    response.status(status).set('Cache-Control', 'no-store');
    response.send(problemPage(problem, visitorOf(http.getRequest<Request>())));
  }
}

/** Express's body parser throws errors that have a status but are not HttpExceptions. */
function statusOf(error: unknown): number {
  if (error instanceof HttpException) return error.getStatus();
  const status = error instanceof Error && 'status' in error ? error.status : undefined;
  return typeof status === 'number' && status >= 400 && status < 500 ? status : 500;
}
