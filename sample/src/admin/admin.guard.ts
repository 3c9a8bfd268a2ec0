import { timingSafeEqual } from 'node:crypto';
import {
  type CanActivate,
  type ExecutionContext,
  ForbiddenException,
  Injectable,
  UnauthorizedException,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import { DemoGateway } from '../demo/demo-gateway.js';

/** Open while the gateway is simulated; otherwise HTTP Basic with `SHOP_ADMIN_PASSWORD`, any user name. */
@Injectable()
export class AdminGuard implements CanActivate {
  constructor(private readonly demo: DemoGateway) {}

  canActivate(context: ExecutionContext): boolean {
    if (this.demo.isOn) return true;
    const password = process.env.SHOP_ADMIN_PASSWORD;
    if (!password) throw new ForbiddenException();
    const http = context.switchToHttp();
    if (isSame(givenPassword(http.getRequest<Request>()), password)) return true;
    http.getResponse<Response>().set('WWW-Authenticate', 'Basic realm="orders", charset="UTF-8"');
    throw new UnauthorizedException();
  }
}

function givenPassword(request: Request): string {
  const [scheme, credentials = ''] = (request.headers.authorization ?? '').split(' ');
  if (scheme?.toLowerCase() !== 'basic') return '';
  return Buffer.from(credentials, 'base64')
    .toString()
    .replace(/^[^:]*:?/, '');
}

function isSame(given: string, wanted: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(wanted)];
  return one.length === other.length && timingSafeEqual(one, other);
}
