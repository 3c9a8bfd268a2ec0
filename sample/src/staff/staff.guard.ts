import { createHash, timingSafeEqual } from 'node:crypto';
import {
  type CanActivate,
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

/** A clerk looks and asks; a manager settles and gives money back as well. */
export type StaffRole = 'clerk' | 'manager';

/** Somebody who has signed in. */
export interface StaffMember {
  readonly name: string;
  readonly role: StaffRole;
}

const PASSWORDS: Readonly<Record<StaffRole, string>> = {
  manager: 'SHOP_ADMIN_PASSWORD',
  clerk: 'SHOP_CLERK_PASSWORD',
};

type StaffRequest = Request & { staff?: StaffMember };

/**
 * Lets everyone in as a manager while the gateway is simulated. Otherwise it asks for HTTP Basic with
 * `SHOP_ADMIN_PASSWORD` or `SHOP_CLERK_PASSWORD`, and any user name. Wrong passwords are counted together for all
 * routes.
 */
@Injectable()
export class StaffGuard implements CanActivate {
  constructor(
    private readonly demo: DemoGateway,
    private readonly guesses: PasswordGuesses,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    const http = context.switchToHttp();
    const request = http.getRequest<StaffRequest>();
    const { authorization, address } = credentialsOf(request);
    const name = nameIn(authorization);
    if (this.demo.isOn) {
      request.staff = { name, role: 'manager' };
      return true;
    }
    const roles = (['manager', 'clerk'] as const).filter((role) => process.env[PASSWORDS[role]]);
    if (roles.length === 0) throw new ForbiddenException();
    const response = http.getResponse<Response>();
    const waitMs = this.guesses.waitOf(address);
    if (waitMs > 0) {
      response.set('Retry-After', String(Math.ceil(waitMs / 1000)));
      throw new HttpException('Too many wrong passwords', HttpStatus.TOO_MANY_REQUESTS);
    }
    const given = passwordIn(authorization);
    const [role] = roles.filter((one) => isSame(given, process.env[PASSWORDS[one]] ?? ''));
    if (role) {
      this.guesses.remember(address);
      request.staff = { name, role };
      return true;
    }
    // A browser's first request has no password: that is not a guess.
    if (authorization !== undefined) this.guesses.countWrong(address);
    response.set('WWW-Authenticate', 'Basic realm="orders", charset="UTF-8"');
    throw new UnauthorizedException();
  }
}

/** Whom {@link StaffGuard} has let in; null for a route without it. */
export function staffIn(context: ExecutionContext): StaffMember | null {
  return context.switchToHttp().getRequest<StaffRequest>().staff ?? null;
}

/** Kept with what staff do by hand. */
const MAX_NAME_LENGTH = 200;

/** The user name of HTTP Basic. Nobody signs in while the gateway is simulated. */
function nameIn(authorization: string | undefined): string {
  const name = credentialsIn(authorization).replace(/:.*/s, '');
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
