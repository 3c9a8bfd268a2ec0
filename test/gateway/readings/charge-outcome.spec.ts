import fc from 'fast-check';
import { morposDialect } from '../../../lib/gateway/dialects/morpos.dialect.js';
import { standardDialect } from '../../../lib/gateway/dialects/standard.dialect.js';
import { DEFAULT_CODE_SETS } from '../../../lib/gateway/dialects/default-code-sets.js';
import { chargeOutcome, type ChargeOutcome, type ChargeRules } from '../../../lib/gateway/readings/charge-outcome.js';
import type { Expectation } from '../../../lib/gateway/readings/result-checks.js';
import { APPROVAL_VARIANTS, DECLINES, INDETERMINATE } from '../public-codes.js';

const STANDARD = standardDialect({ signer: () => '' });
const OURS: Expectation = { conversationId: 'ABC1', amount: '60.00', currencyCode: 949, installmentCount: 1 };
const LENIENT: ChargeRules = {
  codes: DEFAULT_CODE_SETS,
  verifyAmount: 'notLess',
  isSignGood: null,
  unboundState: 'succeeded',
};
const RUNS = process.env.RELEASE === '1' ? 100_000 : 2_000;

const APPROVAL = {
  code: 'B0000',
  message: 'Approved',
  resultCode: 'B0000',
  resultDescription: 'Approved',
  responseDate: '05/02/2025 15:09:09',
  conversationId: 'ABC1',
  orderId: 'o-1',
  paymentId: 'p-1',
  bankUniqueReferenceNumber: '503615446559',
  transactionDate: '05/02/2025 15:09:09',
  currency: '949',
  authCode: '004512',
  paymentInstrumentType: 'CARDPAYMENT',
  sign: 'S',
  instrumentDetail: { maskedCardNumber: '450803******4509', cardType: 'CARD' },
  paymentInfo: { installmentCount: 1, payFacCommissionRate: 1.5, amount: 60, payFacCommissionAmount: 0.9 },
  okUrl: null,
  failUrl: null,
};

function read(status: number, body: unknown, over: Partial<Expectation> = {}, rules = LENIENT): ChargeOutcome {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const answer = { sent: true, reply: { status, text } } as const;
  return chargeOutcome(answer, STANDARD.operations.doPayment, { ...OURS, ...over }, rules);
}

function outcome(status: number, body: unknown, over: Partial<Expectation> = {}, rules = LENIENT): string {
  const { state, reason } = read(status, body, over, rules);
  return reason ? `${state} ${reason}` : state;
}

describe('an approval', () => {
  it('is a success, and tells what the contract names', () => {
    expect(read(200, APPROVAL)).toEqual({
      state: 'succeeded',
      reason: null,
      result: {
        code: 'B0000',
        resultCode: 'B0000',
        message: 'Approved',
        conversationId: 'ABC1',
        amount: '60',
        currency: '949',
        orderId: 'o-1',
        paymentId: 'p-1',
        bankUniqueReferenceNumber: '503615446559',
        authCode: '004512',
        transactionDate: '05/02/2025 15:09:09',
        maskedCardNumber: '450803******4509',
        commissionRate: '1.5',
        commissionAmount: '0.9',
      },
    });
  });

  it.each([200, 201, 202, 204, 206, 299])('is one with status %d', (status) => {
    expect(outcome(status, APPROVAL)).toBe('succeeded');
  });

  it('is one with the code alone', () => {
    expect(outcome(200, '{"code":"B0000"}')).toBe('succeeded');
    expect(
      outcome(200, '{"code":"B0000","resultCode":null,"conversationId":"","currency":null,"paymentInfo":null}'),
    ).toBe('succeeded');
  });

  it('is one in PascalCase, with space around it, whatever its texts say', () => {
    const pascal = Object.fromEntries(
      Object.entries(APPROVAL).map(([name, value]) => [name.charAt(0).toUpperCase() + name.slice(1), value]),
    );
    expect(outcome(200, `\r\n ${JSON.stringify(pascal, null, 2)}\n`)).toBe('succeeded');
    expect(outcome(200, { ...APPROVAL, message: 'Declined', resultDescription: 'Reddedildi' })).toBe('succeeded');
  });

  it.each(['b0000', ' B0000', 'B0000 ', 'B00000', 'B000', '0000', '00', 'B0000\u0000', 'Ｂ0000', 'Approved'])(
    'is not what merely looks like one: %j',
    (code) => {
      expect(outcome(200, { ...APPROVAL, code, resultCode: code })).toBe('unknown unrecognised_code');
    },
  );

  it('is not one because of its message', () => {
    expect(outcome(200, { message: 'Approved', resultDescription: 'Approved' })).toBe('unknown unreadable');
  });
});

describe('an approval that must name the payment', () => {
  const BINDING: ChargeRules = { ...LENIENT, unboundState: 'unknown' };
  const OPERATIONS = [STANDARD, morposDialect()].map(({ name, operations }) => [name, operations.auth3d] as const);
  const NAMED = { code: 'B0000', conversationId: 'ABC1', paymentInfo: { amount: '60' } };

  it.each(OPERATIONS)('dialect %s', (_name, auth3d) => {
    const authorized = (body: object, rules = BINDING, over: Partial<Expectation> = {}): string => {
      const reply = { status: 200, text: JSON.stringify(body) };
      const { state, reason } = chargeOutcome({ sent: true, reply }, auth3d, { ...OURS, ...over }, rules);
      return reason ? `${state} ${reason}` : state;
    };
    expect(authorized(APPROVAL)).toBe('succeeded');
    expect(authorized(NAMED)).toBe('succeeded');
    expect(authorized({ Code: 'B0000', CONVERSATIONID: 'ABC1', Amount: 60, currency: 949 })).toBe('succeeded');
    for (const unnamed of [
      { code: 'B0000' },
      { ...NAMED, conversationId: undefined },
      { ...NAMED, conversationId: '' },
      { ...NAMED, conversationId: null },
      { ...NAMED, paymentInfo: undefined },
      { ...NAMED, paymentInfo: {} },
      { ...NAMED, paymentInfo: { amount: '' } },
      { ...NAMED, paymentInfo: undefined, currency: '949' },
    ]) {
      expect(authorized(unnamed)).toBe('unknown unbound');
      expect(authorized(unnamed, { ...BINDING, unboundState: 'review' })).toBe('review unbound');
      expect(authorized(unnamed, LENIENT)).toBe('succeeded');
    }
    // An answer that contradicts the request is not better because it shows less.
    expect(authorized({ code: 'B0000', conversationId: 'ABC2' })).toBe('review conversation_mismatch');
    expect(authorized({ code: 'B0000', amount: 1 })).toBe('review amount_mismatch');
    expect(authorized({ ...NAMED, amount: 1 })).toBe('review amount_mismatch');
    expect(authorized({ ...NAMED, currency: 840 })).toBe('review currency_mismatch');
    expect(authorized({ ...NAMED, paymentInfo: { amount: 60, currency: 840 } })).toBe('review currency_mismatch');
    expect(authorized({ code: 'B0010' })).toBe('review approval_variant');
    expect(authorized({ code: 'B0051' })).toBe('failed declined');
    // With instalments, a larger amount is believed, so it also names the payment.
    expect(
      authorized({ ...NAMED, amount: undefined, paymentInfo: { amount: 61 } }, BINDING, { installmentCount: 3 }),
    ).toBe('succeeded');
    // With the comparison of amounts off, the conversationId still counts.
    const off: ChargeRules = { ...BINDING, verifyAmount: 'off' };
    expect(authorized({ code: 'B0000', conversationId: 'ABC1' }, off)).toBe('succeeded');
    expect(authorized({ code: 'B0000', amount: 60 }, off)).toBe('unknown unbound');
  });

  it('is shown as it came', () => {
    const reply = { status: 200, text: JSON.stringify({ code: 'B0000', orderId: 'o-9' }) };
    const outcome = chargeOutcome({ sent: true, reply }, STANDARD.operations.auth3d, OURS, BINDING);
    expect(outcome).toMatchObject({ state: 'unknown', reason: 'unbound', result: { code: 'B0000', orderId: 'o-9' } });
  });
});

describe('an approval that contradicts', () => {
  it.each(['ABC2', 'abc1', ' ABC1', true, ['ABC1'], { id: 'ABC1' }, 0])(
    'another conversationId: %j',
    (conversationId) => {
      expect(outcome(200, { ...APPROVAL, conversationId })).toBe('review conversation_mismatch');
    },
  );

  it('two conversationIds, one of them ours', () => {
    expect(outcome(200, '{"code":"B0000","conversationId":"ABC2","ConversationId":"ABC1"}')).toBe(
      'review conversation_mismatch',
    );
    expect(outcome(200, '{"code":"B0000","conversationId":"ABC2","ConversationId":null}')).toBe(
      'review conversation_mismatch',
    );
  });

  it.each(['840', 840, 'TRY', 'TL', '0949', '949.0', 9490, true, {}, ['949']])('another currency: %j', (currency) => {
    expect(outcome(200, { ...APPROVAL, currency })).toBe('review currency_mismatch');
  });

  it.each(['949', 949])('our currency: %j', (currency) => {
    expect(outcome(200, { ...APPROVAL, currency })).toBe('succeeded');
  });

  it.each([
    { currencyCode: '840' },
    { CurrencyCode: 840 },
    { currency: undefined, currencyCode: 840 },
    { paymentInfo: { amount: 60, currency: '840' } },
    { paymentInfo: { amount: 60, currencyCode: '840' } },
    { currencyCode: ['949'] },
  ])('another currency in another place: %j', (told) => {
    expect(outcome(200, { ...APPROVAL, ...told })).toBe('review currency_mismatch');
  });

  it('another amount beside the code', () => {
    for (const told of [{ amount: 1 }, { Amount: '59.99' }, { amount: [60] }, { paymentInfo: null, amount: 1 }]) {
      expect(outcome(200, { ...APPROVAL, ...told })).toBe('review amount_mismatch');
    }
    expect(outcome(200, { ...APPROVAL, amount: '60.00' })).toBe('succeeded');
    expect(outcome(200, { ...APPROVAL, paymentInfo: undefined, amount: 60 })).toBe('succeeded');
  });

  it('a currency of two digits, padded or not', () => {
    expect(outcome(200, '{"code":"B0000","currency":"036","currencyCode":36}', { currencyCode: 36 })).toBe('succeeded');
    expect(outcome(200, '{"code":"B0000","currency":"036"}', { currencyCode: 36 })).toBe('succeeded');
    expect(outcome(200, '{"code":"B0000","currency":36}', { currencyCode: 36 })).toBe('succeeded');
  });

  it.each(['048', '48', 48])('our currency of two digits: %j', (currency) => {
    expect(outcome(200, { ...APPROVAL, currency }, { currencyCode: 48 })).toBe('succeeded');
  });

  it.each(['0048', '8', '480', 'BHD', '48.0', '949'])('another currency than one of two digits: %j', (currency) => {
    expect(outcome(200, { ...APPROVAL, currency }, { currencyCode: 48 })).toBe('review currency_mismatch');
  });

  it('reasons are told in the order conversation, currency, amount, sign', () => {
    const rules: ChargeRules = { ...LENIENT, verifyAmount: 'exact', isSignGood: () => false };
    const wrong = { code: 'B0000', conversationId: 'X', currency: '840', paymentInfo: { amount: 1 } };
    expect(outcome(200, wrong, {}, rules)).toBe('review conversation_mismatch');
    expect(outcome(200, { ...wrong, conversationId: 'ABC1' }, {}, rules)).toBe('review currency_mismatch');
    expect(outcome(200, { ...wrong, conversationId: 'ABC1', currency: 949 }, {}, rules)).toBe('review amount_mismatch');
    expect(outcome(200, { code: 'B0000' }, {}, rules)).toBe('review sign_mismatch');
  });
});

describe('the amount of an approval', () => {
  const GOOD = 'succeeded';
  const BAD = 'review amount_mismatch';

  it.each([
    // the answer's amount; for one payment: notLess, exact; for three instalments: notLess, exact
    ['60', GOOD, GOOD, GOOD, GOOD],
    ['60.0', GOOD, GOOD, GOOD, GOOD],
    ['60.00', GOOD, GOOD, GOOD, GOOD],
    ['60.0000', GOOD, GOOD, GOOD, GOOD],
    ['"60.00"', GOOD, GOOD, GOOD, GOOD],
    ['"060.00"', GOOD, GOOD, GOOD, GOOD],
    ['59.99', BAD, BAD, BAD, BAD],
    ['59.999999999999999999', BAD, BAD, BAD, BAD],
    ['6', BAD, BAD, BAD, BAD],
    ['0', BAD, BAD, BAD, BAD],
    ['60.01', BAD, BAD, GOOD, BAD],
    ['60.000000000000000001', BAD, BAD, GOOD, BAD],
    ['6000', BAD, BAD, GOOD, BAD],
    ['6e1', BAD, BAD, BAD, BAD],
    ['1e2', BAD, BAD, BAD, BAD],
    ['-60', BAD, BAD, BAD, BAD],
    ['"60,00"', BAD, BAD, BAD, BAD],
    ['"60.00 TL"', BAD, BAD, BAD, BAD],
    ['" 60.00"', BAD, BAD, BAD, BAD],
    ['"sixty"', BAD, BAD, BAD, BAD],
    ['true', BAD, BAD, BAD, BAD],
    ['[60]', BAD, BAD, BAD, BAD],
    ['{"value":60}', BAD, BAD, BAD, BAD],
    ['null', GOOD, GOOD, GOOD, GOOD],
    ['""', GOOD, GOOD, GOOD, GOOD],
  ])('%s', (told, ...expected) => {
    const body = `{"code":"B0000","paymentInfo":{"amount":${told}}}`;
    const found = [1, 3].flatMap((installmentCount) =>
      (['notLess', 'exact'] as const).map((verifyAmount) =>
        outcome(200, body, { installmentCount }, { ...LENIENT, verifyAmount }),
      ),
    );
    expect(found).toEqual(expected);
    expect(outcome(200, body, {}, { ...LENIENT, verifyAmount: 'off' })).toBe(GOOD);
  });

  it('is read as decimal text: no float is in the way', () => {
    const body = '{"code":"B0000","paymentInfo":{"amount":9007199254740993.01}}';
    expect(outcome(200, body, { amount: '9007199254740993.01' })).toBe(GOOD);
    expect(outcome(200, body, { amount: '9007199254740993.02' })).toBe(BAD);
  });

  it('is not to be had from a paymentInfo that is no object, or stands twice', () => {
    for (const info of ['[]', '[{"amount":60}]', '"60"', '60', 'true', '{"amount":60},"PaymentInfo":{"amount":1}']) {
      const body = `{"code":"B0000","paymentInfo":${info}}`;
      expect(outcome(200, body)).toBe(BAD);
      expect(outcome(200, body, {}, { ...LENIENT, verifyAmount: 'off' })).toBe(GOOD);
    }
    expect(outcome(200, '{"code":"B0000","paymentInfo":{"amount":60,"Amount":1}}')).toBe(BAD);
    expect(outcome(200, '{"code":"B0000","paymentInfo":{}}')).toBe(GOOD);
  });
});

describe('the sign of an approval', () => {
  it('is asked for where it is verified, over the fields as they came', () => {
    const seen: (string | null)[] = [];
    const isSignGood: ChargeRules['isSignGood'] = (fields) => {
      seen.push(fields.text('sign'), fields.object('paymentInfo')?.text('payFacCommissionRate') ?? null);
      return true;
    };
    const body = '{"code":"B0000","sign":"S","paymentInfo":{"amount":60.00,"payFacCommissionRate":1.5000}}';
    expect(outcome(200, body, {}, { ...LENIENT, verifyAmount: 'exact', isSignGood })).toBe('succeeded');
    expect(seen).toEqual(['S', '1.5000']);
  });

  it('makes it doubtful where it is bad', () => {
    expect(outcome(200, APPROVAL, {}, { ...LENIENT, isSignGood: () => false })).toBe('review sign_mismatch');
  });

  it('is not good because a promise was given', () => {
    const isSignGood = (() => Promise.resolve(false)) as unknown as () => boolean;
    expect(outcome(200, APPROVAL, {}, { ...LENIENT, isSignGood })).toBe('review sign_mismatch');
  });

  it('does not matter to a decline', () => {
    expect(outcome(200, { code: 'B0051' }, {}, { ...LENIENT, isSignGood: () => false })).toBe('failed declined');
  });
});

describe('code and resultCode', () => {
  const KINDS = {
    approved: 'B0000',
    variant: 'B0010',
    declined: 'B0051',
    'also declined': 'B0005',
    indeterminate: 'B0096',
    unrecognised: 'B7777',
  };
  const DISAGREE = 'review codes_disagree';
  const VARIANT = 'review approval_variant';
  const UNCLEAR = 'unknown indeterminate_code';
  const UNRECOGNISED = 'unknown unrecognised_code';
  const FAILED = 'failed declined';
  /** A row for each kind of code; in it, a column for each kind of resultCode, in the order of KINDS. */
  const EXPECTED: Record<keyof typeof KINDS, string[]> = {
    approved: ['succeeded', DISAGREE, DISAGREE, DISAGREE, DISAGREE, DISAGREE],
    variant: [DISAGREE, VARIANT, DISAGREE, DISAGREE, DISAGREE, DISAGREE],
    declined: [DISAGREE, DISAGREE, FAILED, FAILED, UNCLEAR, UNRECOGNISED],
    'also declined': [DISAGREE, DISAGREE, FAILED, FAILED, UNCLEAR, UNRECOGNISED],
    indeterminate: [DISAGREE, DISAGREE, UNCLEAR, UNCLEAR, UNCLEAR, UNCLEAR],
    unrecognised: [DISAGREE, DISAGREE, UNRECOGNISED, UNRECOGNISED, UNCLEAR, UNRECOGNISED],
  };

  it.each(Object.keys(KINDS) as (keyof typeof KINDS)[])('a code that is %s', (kind) => {
    const code = KINDS[kind];
    expect(Object.values(KINDS).map((resultCode) => outcome(200, { code, resultCode }))).toEqual(EXPECTED[kind]);
    expect(Object.values(KINDS).map((resultCode) => outcome(200, { ResultCode: resultCode, Code: code }))).toEqual(
      EXPECTED[kind],
    );
  });

  it.each([true, false, [], ['B0000'], {}, { code: 'B0000' }, 0, 1.5])(
    'a resultCode that is %j is not passed over in an approval',
    (resultCode) => {
      expect(outcome(200, { code: 'B0000', resultCode })).toBe(DISAGREE);
    },
  );

  it('a code in two cases with two values decides nothing', () => {
    expect(outcome(200, '{"code":"B0000","Code":"B0051"}')).toBe('unknown unreadable');
    expect(outcome(200, '{"code":"B0051","Code":"B0000"}')).toBe('unknown unreadable');
    expect(outcome(200, '{"code":"B0051","resultCode":"B0051","ResultCode":"B0000"}')).toBe(UNCLEAR);
    expect(outcome(200, '{"code":"B0000","resultCode":"B0000","ResultCode":"B0051"}')).toBe(DISAGREE);
    expect(outcome(200, '{"code":"B0000","resultCode":"B0051","ResultCode":null}')).toBe(DISAGREE);
  });

  it('a code alone', () => {
    expect(Object.values(KINDS).map((code) => outcome(200, { code }))).toEqual([
      'succeeded',
      VARIANT,
      FAILED,
      FAILED,
      UNCLEAR,
      UNRECOGNISED,
    ]);
  });

  it('a resultCode alone is no code', () => {
    for (const resultCode of Object.values(KINDS)) {
      expect(outcome(200, { resultCode })).toBe('unknown unreadable');
      expect(outcome(400, { resultCode })).not.toMatch(/^(failed|succeeded)/);
    }
  });

  it.each([0, 51, 'rvv0001', 'B51', '51', 'XRVV1'])('the unheard-of code %j', (code) => {
    expect(outcome(200, { code })).toBe(UNRECOGNISED);
  });

  it("codes of the gateway's own validation begin with RVV", () => {
    expect(outcome(200, { code: 'RVV0000999999' })).toBe(FAILED);
  });

  it.each(DECLINES)('%s is a decline', (code) => {
    expect(outcome(200, { code, resultCode: code })).toBe(FAILED);
  });

  it.each(INDETERMINATE)('%s does not say', (code) => {
    expect(outcome(200, { code, resultCode: code })).toBe(UNCLEAR);
  });

  it.each(APPROVAL_VARIANTS)('%s is for a person to look at', (code) => {
    expect(outcome(200, { code, resultCode: code })).toBe(VARIANT);
  });
});

describe('an answer that is none', () => {
  it.each([
    '',
    ' ',
    'null',
    '[]',
    '[{"code":"B0000"}]',
    '"B0000"',
    'B0000',
    'true',
    '42',
    '{}',
    '<html><body>Approved B0000</body></html>',
    '{"code":"B0000"',
    '{"code":"B0000"}}',
    '{"code":null}',
    '{"code":""}',
    '{"code":true}',
    '{"code":["B0000"]}',
    '{"code":{"code":"B0000"}}',
    '{"data":{"code":"B0000"}}',
    '{"__proto__":{"code":"B0000"}}',
    '{"constructor":{"prototype":{"code":"B0000"}}}',
    '\u0000',
  ])('200 with %j', (body) => {
    expect(outcome(200, body)).toBe('unknown unreadable');
    expect(outcome(500, body)).toMatch(/^unknown/);
    expect(outcome(302, body)).toMatch(/^unknown/);
    expect(outcome(400, body)).toMatch(/^unknown/);
  });

  it('200, 10,000 deep', () => {
    const deep = '[{"x":'.repeat(10_000) + '1' + '}]'.repeat(10_000);
    expect(outcome(200, deep)).toBe('unknown unreadable');
    expect(outcome(200, `{"code":"B0000","x":${deep}}`)).toBe('succeeded');
    expect(outcome(200, '{"code":'.repeat(10_000) + '"B0000"' + '}'.repeat(10_000))).toBe('unknown unreadable');
  });
});

describe('an answer that never came', () => {
  it.each([
    ['deadline', 'no_answer'],
    ['connection_lost', 'no_answer'],
    ['reply_too_large', 'unreadable'],
    ['reply_unreadable', 'unreadable'],
  ] as const)('leaves unknown what became of the payment: %s', (cause, reason) => {
    const answer = { sent: true, reply: null, cause } as const;
    for (const { operations } of [STANDARD, morposDialect()]) {
      for (const operation of [operations.doPayment, operations.auth3d]) {
        expect(chargeOutcome(answer, operation, OURS, LENIENT)).toEqual({ state: 'unknown', reason, result: null });
      }
    }
  });
});

describe('a dialect that fails while it reads', () => {
  const approved = { sent: true, reply: { status: 200, text: JSON.stringify(APPROVAL) } } as const;

  it('leaves unknown what became of the payment', () => {
    const throwing = (): never => {
      throw new Error('a dialect that fails');
    };
    expect(chargeOutcome(approved, { ...STANDARD.operations.doPayment, read: throwing }, OURS, LENIENT)).toEqual({
      state: 'unknown',
      reason: 'unreadable',
      result: null,
    });
  });

  it('leaves it unknown, too, where the dialect gives nothing', () => {
    const nothing = (): never => undefined as never;
    expect(chargeOutcome(approved, { ...STANDARD.operations.doPayment, read: nothing }, OURS, LENIENT)).toMatchObject({
      state: 'unknown',
      reason: 'unreadable',
    });
  });
});

describe('a status other than 2xx', () => {
  const BODIES = {
    declined: '{"code":"B0051"}',
    validation: '{"Code":"RVV0000999999","Message":"m","Details":null,"validationResults":[{"ErrorMessage":"e"}]}',
    unrecognised: '{"code":"E-1"}',
    number: '{"code":400}',
    approved: '{"code":"B0000"}',
    variant: '{"code":"B0011"}',
    indeterminate: '{"code":"B0096"}',
    'approved by resultCode': '{"code":"B0051","resultCode":"B0000"}',
    'no code': '{"message":"no"}',
    html: '<html>B0051</html>',
    empty: '',
  };
  const REFUSED = 'failed refused';
  const SILENT = 'unknown server_error';
  const UNCLEAR = 'unknown indeterminate_code';
  const UNCLEAR_BODIES = ['approved', 'variant', 'indeterminate', 'approved by resultCode'];
  const WITHOUT_CODE = ['no code', 'html', 'empty'];

  it.each([401, 404, 405, 413, 415, 429])('%d was not carried out, unless its code speaks against that', (status) => {
    for (const [name, body] of Object.entries(BODIES)) {
      expect([name, outcome(status, body)]).toEqual([name, UNCLEAR_BODIES.includes(name) ? UNCLEAR : REFUSED]);
    }
  });

  it.each([400, 402, 403, 406, 407, 410, 411, 412, 414, 418, 422, 423, 425, 426, 428, 431, 451, 499])(
    '%d was not carried out where it carries a code that does not speak against that',
    (status) => {
      for (const [name, body] of Object.entries(BODIES)) {
        const expected = UNCLEAR_BODIES.includes(name) ? UNCLEAR : WITHOUT_CODE.includes(name) ? SILENT : REFUSED;
        expect([name, outcome(status, body)]).toEqual([name, expected]);
      }
    },
  );

  it.each([408, 409, 500, 501, 502, 503, 504, 520, 599, 300, 301, 302, 303, 304, 307, 308, 100, 101, 199, 600, 0])(
    '%d says nothing about money, whatever it carries',
    (status) => {
      for (const [name, body] of Object.entries(BODIES)) {
        expect([name, outcome(status, body)]).toEqual([name, UNCLEAR_BODIES.includes(name) ? UNCLEAR : SILENT]);
      }
    },
  );

  it('tells what a refusal told', () => {
    expect(read(400, BODIES.validation).result).toMatchObject({ code: 'RVV0000999999', message: 'm' });
  });
});

describe('the code sets of a dialect', () => {
  it('can be replaced one by one', () => {
    const { codes } = standardDialect({ signer: () => '', codes: { approvedCodes: new Set(['00']) } });
    const state = (code: string): string => read(200, { code }, {}, { ...LENIENT, codes }).state;
    expect(['00', 'B0000', 'B0051', 'B0096', 'B0010'].map(state)).toEqual([
      'succeeded',
      'unknown',
      'failed',
      'unknown',
      'review',
    ]);
  });
});

describe('whatever a gateway answers', () => {
  const status = fc.oneof(
    { weight: 4, arbitrary: fc.constant(200) },
    { weight: 2, arbitrary: fc.constantFrom(201, 400, 401, 403, 408, 409, 500, 503) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 999 }) },
  );
  const mostly = (good: unknown, other: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
    fc.oneof({ weight: 4, arbitrary: fc.constant(good) }, { weight: 1, arbitrary: other });
  const anything = fc.jsonValue({ maxDepth: 1 });
  const code = mostly(
    'B0000',
    fc.oneof(fc.constantFrom('b0000', 'B0010', 'B0051', 'B0096', 'RVV1', 'X', null, ''), anything),
  );
  const amount = mostly(60, fc.oneof(fc.constantFrom('60.00', 59.99, 60.01, '1e2'), anything));
  const names = (name: string): fc.Arbitrary<string> =>
    fc.constantFrom(name, name, name.toUpperCase(), name.charAt(0).toUpperCase() + name.slice(1));
  const member = fc.oneof(
    fc.tuple(names('code'), code),
    fc.tuple(names('resultCode'), code),
    fc.tuple(names('conversationId'), mostly('ABC1', anything)),
    fc.tuple(names('currency'), mostly('949', fc.oneof(fc.constantFrom(949, '840', 'TRY'), anything))),
    fc.tuple(names('paymentInfo'), mostly({ amount: 60 }, fc.oneof(fc.record({ amount }), anything))),
    fc.tuple(fc.string(), fc.jsonValue()),
  );
  const reply = fc
    .tuple(fc.tuple(names('code'), code), fc.array(member, { maxLength: 6 }))
    .map(([first, others]) =>
      [first, ...others].map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(),
    )
    .map((members) => `{${members}}`);
  const text = fc.oneof(
    { weight: 6, arbitrary: reply },
    { weight: 1, arbitrary: fc.json() },
    { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
    { weight: 1, arbitrary: reply.chain((whole) => fc.nat(whole.length).map((end) => whole.slice(0, end))) },
  );
  const rules = fc.record({
    codes: fc.constant(DEFAULT_CODE_SETS),
    verifyAmount: fc.constantFrom('notLess' as const, 'exact' as const, 'off' as const),
    isSignGood: fc.constantFrom(
      null,
      () => true,
      () => false,
    ),
    unboundState: fc.constantFrom('succeeded' as const, 'unknown' as const, 'review' as const),
  });

  it('it is read without a throw, and only B0000 with 2xx is a success', () => {
    let successes = 0;
    for (const dialect of [STANDARD, morposDialect()]) {
      fc.assert(
        fc.property(status, text, rules, fc.integer({ min: 1, max: 3 }), (status, text, rules, installmentCount) => {
          const sent = { sent: true, reply: { status, text } } as const;
          const charge = chargeOutcome(sent, dialect.operations.auth3d, { ...OURS, installmentCount }, rules);
          const answer: unknown = isJson(text) ? JSON.parse(text) : null;
          const values = (name: string): unknown[] =>
            typeof answer === 'object' && answer !== null
              ? Object.entries(answer).flatMap(([key, value]) => (key.toLowerCase() === name ? [value as unknown] : []))
              : [];
          const codes = [...values('code'), ...values('resultcode')];
          if (charge.state === 'succeeded') {
            successes += 1;
            expect(status).toBeGreaterThanOrEqual(200);
            expect(status).toBeLessThan(300);
            expect(values('code')).toContain('B0000');
            expect(codes.every((one) => one === 'B0000' || one === null || one === '')).toBe(true);
            expect(values('conversationid').every((one) => one === 'ABC1' || one === null || one === '')).toBe(true);
            expect(values('currency').every((one) => String(one) === '949' || one === null || one === '')).toBe(true);
            expect(rules.isSignGood?.() ?? true).toBe(true);
            if (rules.unboundState !== 'succeeded') {
              expect(values('conversationid')).toContain('ABC1');
              if (rules.verifyAmount !== 'off') expect(text).toMatch(/"amount":/i);
            }
          }
          if (charge.state === 'failed') {
            expect(codes).not.toContain('B0000');
            expect(status === 408 || status === 409 || status >= 500 || status < 200).toBe(false);
          }
          expect(charge.reason === null).toBe(charge.state === 'succeeded');
        }),
        { numRuns: RUNS },
      );
    }
    expect(successes).toBeGreaterThan(RUNS / 100);
  }, 300_000);
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
