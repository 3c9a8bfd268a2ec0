import { createHash, timingSafeEqual } from 'node:crypto';
import {
  type CanActivate,
  createParamDecorator,
  type ExecutionContext,
  ForbiddenException,
  HttpException,
  HttpStatus,
  Injectable,
  UnauthorizedException,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import { DemoGateway } from '../demo/demo-gateway.js';
import { PasswordGuesses } from './password-guesses.js';

/**
 * Lets everyone in while the gateway is simulated. Otherwise it asks for HTTP Basic with `SHOP_ADMIN_PASSWORD` and any
 * user name. Wrong passwords are counted together for all routes.
 */
@Injectable()
export class AdminGuard implements CanActivate {
  constructor(
    private readonly demo: DemoGateway,
    private readonly guesses: PasswordGuesses,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    if (this.demo.isOn) return true;
    const password = process.env.SHOP_ADMIN_PASSWORD;
    if (!password) throw new ForbiddenException();
    const http = context.switchToHttp();
    const response = http.getResponse<Response>();
    const { authorization, address } = credentialsOf(http.getRequest<Request>());
    const waitMs = this.guesses.waitOf(address);
    if (waitMs > 0) {
      response.set('Retry-After', String(Math.ceil(waitMs / 1000)));
      throw new HttpException('Too many wrong passwords', HttpStatus.TOO_MANY_REQUESTS);
    }
    if (isSame(passwordIn(authorization), password)) {
      this.guesses.remember(address);
      return true;
    }
    // A browser's first request has no password: that is not a guess.
    if (authorization !== undefined) this.guesses.countWrong(address);
    response.set('WWW-Authenticate', 'Basic realm="orders", charset="UTF-8"');
    throw new UnauthorizedException();
  }
}

/** Kept with what staff do by hand. */
const MAX_NAME_LENGTH = 200;

/** The name of who uses the admin pages: the user name of HTTP Basic. Nobody signs in while the gateway is simulated. */
export const CurrentAdmin = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  adminNameOf(context.switchToHttp().getRequest<Request>()),
);

function adminNameOf(request: Request): string {
  const name = credentialsIn(credentialsOf(request).authorization).replace(/:.*$/s, '');
  return name.trim().slice(0, MAX_NAME_LENGTH) || 'admin';
}

function credentialsOf({ headers, ip }: Request): { authorization: string | undefined; address: string } {
  return { authorization: headers.authorization, address: ip ?? '' };
}

function passwordIn(authorization: string | undefined): string {
  return credentialsIn(authorization).replace(/^[^:]*:?/, '');
}

/** `name:password`. */
function credentialsIn(authorization = ''): string {
  return Buffer.from(/^basic +(\S+)$/i.exec(authorization)?.[1] ?? '', 'base64').toString();
}

/** Takes the same time wherever the texts differ, even in length. */
function isSame(given: string, wanted: string): boolean {
  return timingSafeEqual(digest(given), digest(wanted));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
