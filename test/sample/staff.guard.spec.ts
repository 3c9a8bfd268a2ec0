import { type ExecutionContext, ForbiddenException, UnauthorizedException } from '@nestjs/common';
import { StaffGuard } from '../../sample/src/staff/staff.guard.js';
import { PasswordGuesses } from '../../sample/src/staff/password-guesses.js';
import { StaffAccess } from '../../sample/src/staff/staff-access.js';
import type { DemoGateway } from '../../sample/src/demo/demo-gateway.js';

const PASSWORD = 'şifre:1 ';

/** What the guard does with a request: lets it pass, or answers with a status and a challenge. */
function answer(authorization: string | undefined, demo = false): unknown {
  const headers: Record<string, string> = {};
  const request = { headers: authorization === undefined ? {} : { authorization } };
  const response = { set: (name: string, value: string) => (headers[name] = value) };
  const http = { getRequest: () => request, getResponse: () => response };
  const context = { switchToHttp: () => http } as unknown as ExecutionContext;
  try {
    return new StaffGuard({ isOn: demo } as DemoGateway, new PasswordGuesses()).canActivate(context);
  } catch (error) {
    if (error instanceof ForbiddenException) return { status: 403, ...headers };
    if (error instanceof UnauthorizedException) return { status: 401, ...headers };
    throw error;
  }
}

const basic = (credentials: string, scheme = 'Basic') => `${scheme} ${Buffer.from(credentials).toString('base64')}`;

const ASKED = { status: 401, 'WWW-Authenticate': 'Basic realm="orders", charset="UTF-8"' };

describe('StaffGuard', () => {
  beforeEach(() => {
    process.env.SHOP_ADMIN_PASSWORD = PASSWORD;
  });
  afterEach(() => {
    delete process.env.SHOP_ADMIN_PASSWORD;
  });

  it.each([basic(`me:${PASSWORD}`), basic(`:${PASSWORD}`), basic(`ş ğ:${PASSWORD}`, 'bASIC ')])(
    'lets in with the password and any user name: %s',
    (authorization) => expect(answer(authorization)).toBe(true),
  );

  it.each([
    undefined,
    '',
    'Basic',
    basic('me:'),
    basic(`me:${PASSWORD.trim()}`),
    basic(`me:${PASSWORD}x`),
    basic(`me:${PASSWORD.toUpperCase()}`),
    basic(`me:${PASSWORD}`, 'Bearer'),
    `Basic me:${PASSWORD}`,
  ])('asks for it again after %j', (authorization) => expect(answer(authorization)).toEqual(ASKED));

  it.each([undefined, ''])('lets nobody in while the password is %j, not even with an empty one', (password) => {
    delete process.env.SHOP_ADMIN_PASSWORD;
    if (password !== undefined) process.env.SHOP_ADMIN_PASSWORD = password;
    for (const authorization of [undefined, basic(':'), basic(''), basic('me:'), basic('me:undefined')]) {
      expect(answer(authorization)).toEqual({ status: 403 });
    }
  });

  it.each([
    [PASSWORD, 'manager', ['look', 'ask', 'settle', 'refund', 'replay']],
    ['clerk’s', 'clerk', ['look', 'ask']],
  ])('whoever has the password %j is a %s at the desk', (password, _role, rights) => {
    process.env.SHOP_CLERK_PASSWORD = 'clerk’s';
    const request = { headers: { authorization: basic(`Ada:${password}`) } };
    const http = { getRequest: () => request, getResponse: () => ({ set: () => undefined }) };
    const context = { switchToHttp: () => http } as unknown as ExecutionContext;
    expect(new StaffAccess().staffOf(context)).toBeNull();
    new StaffGuard({ isOn: false } as DemoGateway, new PasswordGuesses()).canActivate(context);
    expect(new StaffAccess().staffOf(context)).toEqual({ name: 'Ada', rights });
    delete process.env.SHOP_CLERK_PASSWORD;
  });

  it('lets everyone in while the gateway is simulated', () => {
    expect(answer(undefined, true)).toBe(true);
    delete process.env.SHOP_ADMIN_PASSWORD;
    expect(answer(undefined, true)).toBe(true);
  });
});
