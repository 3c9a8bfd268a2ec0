import fc from 'fast-check';
import { morposDialect } from '../../../lib/gateway/dialects/morpos.dialect.js';
import type { GatewayDialect, AmountCheck } from '../../../lib/gateway/gateway-dialect.js';
import { inquiryOutcome, type InquiryOutcome } from '../../../lib/gateway/readings/inquiry-outcome.js';
import type { Expectation } from '../../../lib/gateway/readings/result-checks.js';
import { CARD_DECLINES, PUBLIC_CODES } from '../public-codes.js';

const OURS: Expectation = { conversationId: 'ABC1', amount: '60.00', currencyCode: 949, installmentCount: 1 };
const NOT_FOUND_KNOWN = morposDialect({ codes: { notFoundCodes: new Set(['B0025', 'B7777']) } });

const PAID = {
  responseCode: 'B0000',
  responseDescription: 'Approved',
  transactionStatus: 'SUCCESS',
  transactionType: 'SALE',
  conversationId: 'ABC1',
  orderId: 'o-1',
  paymentId: 'p-1',
  paymentInfo: { amount: 60, currency: 949, installmentCount: 1 },
};

interface Reading {
  readonly status?: number;
  readonly dialect?: GatewayDialect;
  readonly over?: Partial<Expectation>;
  readonly verifyAmount?: AmountCheck;
}

function read(
  body: unknown,
  { status = 200, dialect = morposDialect(), over = {}, verifyAmount = 'notLess' }: Reading = {},
): InquiryOutcome {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const rules = { about: 'sale', codes: dialect.codes, verifyAmount, isSignGood: null } as const;
  return inquiryOutcome({ status, text }, dialect.operations.checkPayment!, { ...OURS, ...over }, rules);
}

function word(...given: Parameters<typeof read>): string {
  const inquiry = read(...given);
  return inquiry.outcome === 'mismatch' ? `mismatch ${inquiry.charge.reason}` : inquiry.outcome;
}

describe('an inquiry', () => {
  it('that says paid for this sale, says so', () => {
    expect(read(PAID)).toMatchObject({
      outcome: 'paid',
      charge: {
        state: 'succeeded',
        reason: null,
        result: { code: 'B0000', message: 'Approved', orderId: 'o-1', paymentId: 'p-1', amount: '60', currency: '949' },
      },
    });
  });

  it('carries the outcome that follows from its word', () => {
    expect(read({ responseCode: 'B0051' })).toMatchObject({
      charge: { state: 'failed', reason: 'declined', result: { code: 'B0051' } },
    });
    expect(read({ ...PAID, currency: '840' })).toMatchObject({
      charge: { state: 'review', reason: 'currency_mismatch', result: { orderId: 'o-1' } },
    });
  });

  it('about another amount settles nothing, wherever it stands', () => {
    expect(word({ responseCode: 'B0000', amount: 1.0 }, { over: { amount: '149.90' } })).toBe(
      'mismatch amount_mismatch',
    );
    expect(read({ responseCode: 'B0000', amount: 60 })).toMatchObject({ charge: { result: { amount: '60' } } });
  });

  it.each([
    [{}, 'nothing', null],
    [{ responseDescription: 'Approved' }, 'paid', false],
    [{ message: 'Onaylandı' }, 'paid', false],
    [{ responseDescription: 'Declined', message: 'Approved' }, 'nothing', null],
    [{ responseDescription: 'Not approved' }, 'nothing', null],
    [{ responseDescription: 'Approved', transactionStatus: 'PENDING' }, 'nothing', null],
    [{ conversationId: 'ABC1', transactionStatus: 'PENDING' }, 'nothing', null],
    [{ transactionStatus: 'SUCCESS' }, 'paid', false],
    [{ transactionStatus: null, transactionType: 'SALE', orderId: 'o-1', currency: '949' }, 'nothing', null],
    [{ conversationId: 'ABC1' }, 'paid', true],
    [{ conversationId: '' }, 'nothing', null],
    [{ amount: '60.0' }, 'paid', true],
    [{ Amount: 60 }, 'paid', true],
    [{ paymentInfo: { Amount: '60.00' } }, 'paid', true],
    [{ paymentInfo: { amount: null } }, 'nothing', null],
  ])('of an approved code and %j is %s', (more, expected, isBound) => {
    const inquiry = read({ responseCode: 'B0000', ...more });
    expect([inquiry.outcome, 'isBound' in inquiry ? inquiry.isBound : null]).toEqual([expected, isBound]);
  });

  it('shows more than was asked for in instalments alone, and what is not compared only where it is ours', () => {
    const more = { responseCode: 'B0000', amount: 63 };
    expect(read(more, { over: { installmentCount: 3 } })).toMatchObject({ outcome: 'paid', isBound: true });
    expect(word(more, { verifyAmount: 'off' })).toBe('nothing');
    expect(word(more, { verifyAmount: 'off', over: { installmentCount: 3 } })).toBe('nothing');
    expect(read({ responseCode: 'B0000', amount: 60 }, { verifyAmount: 'off' })).toMatchObject({ isBound: true });
  });

  it.each([
    ['Approved', true],
    [' APPROVED ', true],
    ['Onaylandı', true],
    ['ONAYLANDI', true],
    ['onaylandi', true],
    ['ONAYLANDİ', true],
    ['OnaylandÄ±', true],
    ['ONAYLANDÄ±', true],
    ['Onaylandý', true],
    ['Onaylanmadı', false],
    ['Approved for review', false],
    ['Disapproved', false],
    ['Onayland', false],
    ['OK', false],
  ])('whose text is %j says approved: %s', (responseDescription, says) => {
    expect(word({ responseCode: 'B0000', responseDescription })).toBe(says ? 'paid' : 'nothing');
  });

  it('has other texts for approved where a host knows better', () => {
    const dialect = morposDialect({ codes: { approvedTexts: new Set(['BAŞARILI']) } });
    for (const responseDescription of ['Başarılı', 'başarili', 'BAÅ\u009eARILI']) {
      expect(word({ responseCode: 'B0000', responseDescription }, { dialect })).toBe('paid');
    }
    expect(word({ responseCode: 'B0000', responseDescription: 'Approved' }, { dialect })).toBe('nothing');
  });

  it.each([
    [{ transactionType: 'sale' }, 'paid'],
    [{ transactionType: null }, 'paid'],
    [{ transactionType: 'VOID' }, 'nothing'],
    [{ transactionType: 'REFUND' }, 'nothing'],
    [{ transactionType: ['SALE'] }, 'nothing'],
    [{ transactionType: false }, 'nothing'],
    [{ TransactionType: 'VOID' }, 'nothing'],
    [{ conversationId: 'ABC2' }, 'nothing'],
    [{ conversationId: true }, 'nothing'],
    [{ ConversationId: 'ABC2' }, 'nothing'],
    [{ paymentInfo: { amount: 59.99 } }, 'mismatch amount_mismatch'],
    [{ paymentInfo: [] }, 'mismatch amount_mismatch'],
    [{ paymentInfo: { amount: 60, currency: 840 } }, 'mismatch currency_mismatch'],
    [{ currency: '840' }, 'mismatch currency_mismatch'],
    [{ currency: '949' }, 'paid'],
    [{ currency: ['949'] }, 'mismatch currency_mismatch'],
    [{ paymentInfo: { amount: 60, currency: ['949'] } }, 'mismatch currency_mismatch'],
    [{ currencyCode: 840 }, 'mismatch currency_mismatch'],
    [{ paymentInfo: { amount: 60, CurrencyCode: '840' } }, 'mismatch currency_mismatch'],
    [{ currency: 949, currencyCode: 949 }, 'paid'],
    [{ transactionStatus: undefined }, 'paid'],
    [{ transactionStatus: null }, 'paid'],
    [{ transactionStatus: 'Success' }, 'paid'],
    [{ TransactionStatus: 'FAILED', transactionStatus: undefined }, 'nothing'],
    [{ transactionStatus: 'FAILED' }, 'nothing'],
    [{ transactionStatus: 'PENDING' }, 'nothing'],
    [{ transactionStatus: 'VOIDED' }, 'nothing'],
    [{ transactionStatus: 'SUCCESS', TransactionStatus: 'FAILED' }, 'nothing'],
    [{ transactionStatus: ['SUCCESS'] }, 'nothing'],
    [{ transactionStatus: true }, 'nothing'],
    [{ amount: 60 }, 'paid'],
    [{ Amount: '60.00' }, 'paid'],
    [{ amount: '' }, 'paid'],
    [{ amount: 1 }, 'mismatch amount_mismatch'],
    [{ AMOUNT: '1.00' }, 'mismatch amount_mismatch'],
    [{ amount: [60] }, 'mismatch amount_mismatch'],
    [{ amount: 60, Amount: 1 }, 'mismatch amount_mismatch'],
    [{ amount: 'sixty' }, 'mismatch amount_mismatch'],
    [{ amount: 60, paymentInfo: { amount: 1 } }, 'mismatch amount_mismatch'],
    [{ amount: 60, paymentInfo: [] }, 'mismatch amount_mismatch'],
    [{ amount: 60, currency: 949, paymentInfo: null }, 'paid'],
    [{ amount: 1, paymentInfo: null }, 'mismatch amount_mismatch'],
    [{ Currency: 840, paymentInfo: null }, 'mismatch currency_mismatch'],
    [{ code: 'B0000' }, 'paid'],
    [{ code: 'B0051' }, 'nothing'],
    [{ resultCode: 'B0051' }, 'nothing'],
    [{ code: 'B0000', resultCode: 'B0051' }, 'nothing'],
    [{ code: 'B0000', resultCode: 'B0010' }, 'nothing'],
    [{ code: 'B0000', resultCode: 'B0000' }, 'paid'],
    [{ code: true }, 'nothing'],
    [{ resultCode: {} }, 'nothing'],
    [{ ResponseCode: 'B0051' }, 'nothing'],
  ])('paid, with %j', (over, expected) => {
    expect(word({ ...PAID, ...over })).toBe(expected);
  });

  it('may show more than was asked where there are instalments', () => {
    const more = { ...PAID, paymentInfo: { amount: 63 } };
    expect(word(more)).toBe('mismatch amount_mismatch');
    expect(word(more, { over: { installmentCount: 3 } })).toBe('paid');
  });

  it.each(CARD_DECLINES)('%s says that the card was declined', (responseCode) => {
    expect(word({ ...PAID, transactionStatus: 'FAILED', responseCode })).toBe('declined');
  });

  it('that says declined, and that the transaction succeeded, says nothing', () => {
    expect(word({ ...PAID, responseCode: 'B0051' })).toBe('nothing');
  });

  it('has other words for success where a host knows better', () => {
    const dialect = morposDialect({ successStatuses: ['Tamam'] });
    expect(word({ ...PAID, transactionStatus: 'TAMAM' }, { dialect })).toBe('paid');
    expect(word(PAID, { dialect })).toBe('nothing');
  });

  it('with any other code of the public list says nothing, but for the approval', () => {
    const others = PUBLIC_CODES.map(([code = '']) => code).filter(
      (code) => !['B0000', ...CARD_DECLINES].includes(code),
    );
    expect(others).toHaveLength(89 - 1 - CARD_DECLINES.length);
    for (const responseCode of others)
      expect([responseCode, word({ responseCode })]).toEqual([responseCode, 'nothing']);
  });

  it('that says declined with a second code that differs says nothing', () => {
    expect(word({ responseCode: 'B0051', code: 'B0000' })).toBe('nothing');
    expect(word({ responseCode: 'B0051', code: 'B0005' })).toBe('nothing');
    expect(word({ responseCode: 'B0051', resultCode: 'RVV1' })).toBe('nothing');
    expect(word({ responseCode: 'B0051', resultCode: 'B0051' })).toBe('declined');
  });

  it('about a void, or about another payment, declines nothing', () => {
    expect(word({ responseCode: 'B0051', transactionType: 'VOID' })).toBe('nothing');
    expect(word({ responseCode: 'B0051', conversationId: 'ABC2' })).toBe('nothing');
  });

  it.each(['RVV0000999999', 'B0025', 'B0029', 'B0100', 'B0101', 'B0096', 'B0010', 'B9999', 'X', 'b0000', 0])(
    '%j speaks of the inquiry or says nothing',
    (responseCode) => {
      expect(word({ responseCode })).toBe('nothing');
    },
  );

  it('may say "not found" where it is known which code does', () => {
    expect(word({ responseCode: 'B0025' }, { dialect: NOT_FOUND_KNOWN })).toBe('not_found');
    expect(word({ responseCode: 'B7777' }, { dialect: NOT_FOUND_KNOWN })).toBe('not_found');
    expect(word({ responseCode: 'B0025', code: 'B0000' }, { dialect: NOT_FOUND_KNOWN })).toBe('nothing');
    expect(word({ responseCode: 'B0025', conversationId: 'ABC2' }, { dialect: NOT_FOUND_KNOWN })).toBe('nothing');
  });

  it.each([404, 400, 401, 403, 408, 500, 503, 302, 199])('with status %d is not a word', (status) => {
    for (const body of [PAID, { responseCode: 'B0051' }, { responseCode: 'B0025' }, '']) {
      expect(word(body, { status, dialect: NOT_FOUND_KNOWN })).toBe('nothing');
    }
  });

  it.each([
    '',
    'null',
    '[]',
    '"B0000"',
    '{}',
    '{"code":"B0000"}',
    '<html>',
    '{"responseCode":null}',
    '{"responseCode":"B0000"',
  ])('answered with %j says nothing', (body) => {
    expect(word(body)).toBe('nothing');
  });

  it.each([
    [
      'throws',
      (): never => {
        throw new Error('a dialect that fails');
      },
    ],
    ['gives nothing', () => undefined as never],
    ['gives null', () => null as never],
  ])('says nothing where the dialect %s while it reads', (_how, failing) => {
    const dialect = morposDialect();
    const checkPayment = { ...dialect.operations.checkPayment!, read: failing };
    expect(read(PAID, { dialect: { ...dialect, operations: { ...dialect.operations, checkPayment } } })).toEqual({
      outcome: 'nothing',
    });
  });

  it('is read without a throw, whatever it is', () => {
    const reply = fc.oneof(
      fc.json(),
      fc.string({ unit: 'binary' }),
      fc
        .record(
          {
            responseCode: fc.oneof(fc.constantFrom('B0000', 'B0051'), fc.jsonValue()),
            code: fc.jsonValue(),
            transactionType: fc.oneof(fc.constant('SALE'), fc.jsonValue()),
            paymentInfo: fc.jsonValue(),
          },
          { requiredKeys: [] },
        )
        .map((fields) => JSON.stringify(fields)),
    );
    fc.assert(
      fc.property(fc.constantFrom(200, 404, 500), reply, (status, text) => {
        const found = word(text, { status });
        if (found !== 'nothing') expect(status).toBe(200);
        if (found === 'paid') expect((JSON.parse(text) as { responseCode: unknown }).responseCode).toBe('B0000');
        if (found === 'declined') expect((JSON.parse(text) as { responseCode: unknown }).responseCode).toBe('B0051');
      }),
      { numRuns: 2_000 },
    );
  });
});
