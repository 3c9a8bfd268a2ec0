import type { DiscoveryService, ModulesContainer } from '@nestjs/core';
import { AccountRegistration, handlerAccountProblems } from '../../lib/module/account-registration.js';

/** A container with these registrations, and a provider that is none. */
function containerWith(...registrations: AccountRegistration[]): DiscoveryService {
  const wrappers = registrations.map((instance) => ({ token: AccountRegistration, instance }));
  return { getProviders: () => [...wrappers, { token: 'other', instance: {} }] } as unknown as DiscoveryService;
}

function problemsOf(first: AccountRegistration, ...others: AccountRegistration[]): [string, string][] {
  const problems = first.problemsAmong(containerWith(first, ...others), new Map() as unknown as ModulesContainer);
  return problems.map(({ option, message }) => [option, message]);
}

const unnamed = new AccountRegistration('default', 'payments');

describe('a registration', () => {
  it('stands beside others that have a name and a path of their own', () => {
    expect(problemsOf(unnamed)).toEqual([]);
    expect(problemsOf(unnamed, new AccountRegistration('eu', 'payments/eu'))).toEqual([]);
    const off = new AccountRegistration('default', null);
    expect(problemsOf(off, new AccountRegistration('eu', null))).toEqual([]);
  });

  it('cannot be made twice for one account', () => {
    expect(problemsOf(unnamed, new AccountRegistration('default', 'pay'))).toEqual([
      [
        'name',
        expect.stringContaining('the unnamed account is registered twice: call PaymentModule.forRoot once for each'),
      ],
    ]);
    expect(problemsOf(new AccountRegistration('eu', null), new AccountRegistration('eu', 'pay'))).toEqual([
      [
        'name',
        expect.stringContaining('the account "eu" is registered twice: call PaymentModule.forRoot once for each'),
      ],
    ]);
  });

  it('cannot read the variables of another', () => {
    const [dashed, lined] = ['eu-shop', 'EU_shop'].map((name) => new AccountRegistration(name, name)) as [
      AccountRegistration,
      AccountRegistration,
    ];
    expect(problemsOf(dashed, lined)).toEqual([
      ['name', '"eu-shop" and "EU_shop" would read the same variables (PAYMENT_EU_SHOP_…); rename one'],
    ]);
  });

  it('cannot answer at the path of another', () => {
    expect(problemsOf(unnamed, new AccountRegistration('eu', 'payments'))).toEqual([
      ['callback.path', '"payments" is used by two accounts; give each its own'],
    ]);
  });
});

it('a handler can name only accounts that are registered', () => {
  const container = containerWith(unnamed, new AccountRegistration('eu', null));
  expect(handlerAccountProblems(container, ['default', 'eu', 'eu'])).toEqual([]);
  expect(handlerAccountProblems(container, ['us', 'default', 'us'])).toEqual([
    { option: '@OnPayment name', variable: null, message: 'the account "us" is not registered with PaymentModule' },
  ]);
});
