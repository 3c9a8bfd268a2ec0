import { morposDialect } from '../../../lib/gateway/dialects/morpos.dialect.js';
import { ReplyFields } from '../../../lib/gateway/readings/reply-fields.js';
import { Masker } from '../../../lib/payment/kept-text.js';
import { type BinOutcome, binOutcome, noAnswerAboutCard } from '../../../lib/gateway/readings/bin-outcome.js';
import { cpuMs } from '../../rigs/cpu-time.js';

const QUESTION = { conversationId: 'CONVERSATION00000001', language: 'tr', bin: '45080345' };
const NO_SALE = { amount: null, currencyCode: null };
const SALE = { amount: '100.00', currencyCode: 949 };
const { codes, operations } = morposDialect();

/** What a shop is told of an answer. */
function told(answer: object | string, sale: typeof NO_SALE | typeof SALE = NO_SALE, status = 200): BinOutcome {
  const fields = ReplyFields.parse(typeof answer === 'string' ? answer : JSON.stringify(answer));
  const result = fields && operations.checkBin!.read(fields);
  return binOutcome(status, result, { ...QUESTION, ...sale }, { codes, amountFormat: 'fixed', masker: new Masker([]) });
}

const KNOWN = { bank: 'Örnek Bankası', type: 'credit', brand: 'VISA', commercial: false };
const APPROVED = { responseCode: 'B0000', responseDescription: 'Approved' };

describe('the card, as gateways may tell it', () => {
  it.each<[string, object]>([
    ['flat', { bankName: 'Örnek Bankası', cardType: 'CREDIT', cardBrand: 'VISA', commercial: false }],
    ['in PascalCase', { BankName: 'Örnek Bankası', CardType: 'Credit Card', CardBrand: 'VISA', IsCommercial: 'false' }],
    ['in an object', { data: { bankName: 'Örnek Bankası', cardType: 'CREDIT_CARD', scheme: 'VISA', commercial: 0 } }],
    [
      'in a list of one',
      { result: [{ bank_name: 'Örnek Bankası', card_type: 'C', network: 'VISA', is_business: 'H' }] },
    ],
    ['in Turkish', { issuer: 'Örnek Bankası', cardType: 'KREDİ KARTI', brand: 'VISA', cardKind: 'BİREYSEL KART' }],
    [
      'with the scheme as cardType',
      {
        bank: { name: 'Örnek Bankası' },
        cardType: 'VISA',
        creditType: 'CreditCard',
        brand: 'VISA',
        isCorporate: false,
      },
    ],
    ['by flags', { bankName: 'Örnek Bankası', isCredit: true, isDebit: false, cardBrand: 'VISA', commercial: 'N' }],
  ])('%s', (_name, card) => {
    expect(told({ ...APPROVED, ...card })).toEqual({
      ...KNOWN,
      installments: null,
      code: 'B0000',
      message: 'Approved',
    });
  });

  it.each([
    ['debit', 'DEBIT'],
    ['debit', 'Banka Kartı'],
    ['debit', 'D'],
    ['prepaid', 'PREPAID_CARD'],
    ['prepaid', 'Ön Ödemeli'],
    [null, 'CHARGE'],
    [null, 7],
    [null, { name: 'credit' }],
  ])('type %s: %j', (type, cardType) => {
    expect(told({ ...APPROVED, cardType })).toMatchObject({ type });
  });

  it('is not believed where two places differ', () => {
    const card = { ...APPROVED, bankName: 'A', cardType: 'credit', data: { bankName: 'B', cardType: 'debit' } };
    expect(told(card)).toMatchObject({ bank: null, type: null });
  });

  it.each<[string, object]>([
    ['00', { code: '00' }],
    ['no code at all', {}],
  ])('is believed with %s', (_name, code) => {
    expect(told({ ...code, bankName: 'Örnek Bankası' })).toMatchObject({ bank: 'Örnek Bankası' });
  });

  it('shows no digits of the card that an answer repeats', () => {
    const echo = { ...APPROVED, bankName: `Bank ${QUESTION.bin}`, responseDescription: `BIN ${QUESTION.bin} found` };
    expect(told({ ...echo, bin: QUESTION.bin })).toMatchObject({
      bank: 'Bank ********',
      message: 'BIN ******** found',
    });
    expect(told({ ...echo, responseCode: `X${QUESTION.bin}` })).toMatchObject({ code: 'refused', bank: null });
    const long = told({ ...APPROVED, bankName: '4508034508034509', cardBrand: 'x'.repeat(500) });
    expect(long.bank).toBeNull();
    expect(long.brand!.length).toBeLessThanOrEqual(80);
  });
});

describe('an answer that tells nothing', () => {
  const nothing = { bank: null, type: null, brand: null, commercial: null, installments: null };
  const card = { bankName: 'Örnek Bankası', installmentList: [{ installmentCount: 3 }] };

  it.each<[string, object | string, number, object]>([
    [
      'a refusal',
      { responseCode: 'B0014', responseDescription: 'No such card', ...card },
      200,
      { code: 'B0014', message: 'No such card' },
    ],
    ['two codes that differ', { ...APPROVED, code: 'B0051', ...card }, 200, { code: 'B0000' }],
    ['a code that is a list', { code: ['B0000'], ...card }, 200, noAnswerAboutCard('unreadable')],
    [
      'an error',
      { Message: 'Unauthorized', Code: 'RVV0000000401' },
      401,
      { code: 'RVV0000000401', message: 'Unauthorized' },
    ],
    ['an error with an approval', { ...APPROVED, ...card }, 500, { code: 'B0000' }],
    ['an error without a code', {}, 404, noAnswerAboutCard('refused')],
    ['an error of the server', '<h1>500</h1>', 500, noAnswerAboutCard('server_error')],
    ['a redirect', '', 302, noAnswerAboutCard('refused')],
    ['HTML', '<!doctype html><title>Maintenance</title>', 200, noAnswerAboutCard('unreadable')],
    ['an empty object', '{}', 200, noAnswerAboutCard('unreadable')],
    ['a list', '[]', 200, noAnswerAboutCard('unreadable')],
    ['null', 'null', 200, noAnswerAboutCard('unreadable')],
    ['__proto__', '{"__proto__":{"bankName":"A"}}', 200, noAnswerAboutCard('unreadable')],
    [
      'of another question',
      { ...APPROVED, conversationId: 'ANOTHER', ...card },
      200,
      noAnswerAboutCard('conversation_mismatch'),
    ],
    [
      'about another BIN',
      { ...APPROVED, binNumber: '524677', ...card },
      200,
      noAnswerAboutCard('conversation_mismatch'),
    ],
  ])('%s', (_name, answer, status, outcome) => {
    expect(told(answer, NO_SALE, status)).toMatchObject({ ...nothing, ...outcome });
  });

  it('may name fewer digits, or the whole range', () => {
    expect(told({ ...APPROVED, bin: 450803, ...card })).toMatchObject({ bank: 'Örnek Bankası' });
    expect(told({ ...APPROVED, binNumber: '4508034500', ...card })).toMatchObject({ bank: 'Örnek Bankası' });
  });

  it('nothing of prototypes is read', () => {
    const answer = told(`{"responseCode":"B0000","data":{"__proto__":{"bankName":"A"}}}`);
    expect(answer).toMatchObject({ ...nothing, code: 'B0000' });
  });
});

describe('instalments', () => {
  const rows = (list: unknown, sale: typeof NO_SALE | typeof SALE = NO_SALE, more: object = {}) =>
    told({ ...APPROVED, ...more, installmentList: list }, sale).installments;

  it.each<[string, object]>([
    [
      "as the vendor's panel shows them",
      { installmentList: [{ installmentId: 9, installmentCount: 3, installmentTotalAmount: 1250.5 }] },
    ],
    ['as texts', { Installments: [{ Installment_Number: '3', Total_Price: '1250.5' }] }],
    [
      'under the card',
      {
        installmentDetails: [
          {
            bankName: 'A',
            installmentPrices: [{ installmentNumber: 3, totalPrice: 1250.5, installmentPrice: 416.83 }],
          },
        ],
      },
    ],
  ])('%s', (_name, list) => {
    expect(told({ ...APPROVED, ...list }).installments).toEqual([{ count: 3, total: '1250.5', fee: null }]);
  });

  it('without amounts, and none', () => {
    expect(rows([1, '2', 3])).toEqual([1, 2, 3].map((count) => ({ count, total: null, fee: null })));
    expect(rows([])).toEqual([]);
    expect(rows(null)).toBeNull();
    expect(rows('3')).toBeNull();
    expect(rows([{ id: 1 }, 'x'])).toBeNull();
  });

  it('in ascending order, each once', () => {
    const list = [
      { installmentCount: 6, totalAmount: '106.00' },
      { installmentCount: 2, totalAmount: '102.00', fee: '2' },
      { installmentCount: 6, totalAmount: 106 },
    ];
    expect(rows(list)).toEqual([
      { count: 2, total: '102.00', fee: '2' },
      { count: 6, total: '106.00', fee: null },
    ]);
  });

  it.each<[string, object]>([
    ['0 instalments', { installmentCount: 0 }],
    ['a negative number', { installmentCount: -3 }],
    ['a fraction', { installmentCount: 2.5 }],
    ['more than three years', { installmentCount: 37 }],
    ['text', { installmentCount: 'three' }],
    ['full-width digits', { installmentCount: '３' }],
    ['a total of 0', { installmentCount: 3, totalAmount: 0 }],
    ['a negative total', { installmentCount: 3, totalAmount: -100 }],
    ['a negative fee', { installmentCount: 3, totalAmount: 100, fee: '-1' }],
    ['a fee as high as the total', { installmentCount: 3, totalAmount: 100, fee: 100 }],
    ['instalments that do not add up', { installmentCount: 3, totalAmount: 100, installmentAmount: 40 }],
  ])('a row with %s is left out', (_name, row) => {
    expect(rows([{ installmentCount: 2, totalAmount: 100 }, row])).toEqual([{ count: 2, total: '100', fee: null }]);
  });

  it('two rows that contradict each other are left out', () => {
    const list = [
      { count: 3, total: 100 },
      { count: 3, total: 101 },
      { count: 6, total: 103 },
    ];
    expect(rows(list)).toEqual([{ count: 6, total: '103', fee: null }]);
  });

  it('instalments may be rounded', () => {
    const [row] = rows([{ installmentCount: 3, totalAmount: '100.00', installmentAmount: '33.34' }])!;
    expect(row).toEqual({ count: 3, total: '100.00', fee: null });
  });

  it('a total that can be read in two ways is not told', () => {
    expect(rows([{ count: 3, total: '1.250' }])).toEqual([{ count: 3, total: null, fee: null }]);
  });

  it('five thousand rows take no longer than a hundred', () => {
    const list = Array.from({ length: 5_000 }, () => ({ count: 3, total: 100 }));
    const began = cpuMs();
    expect(rows(list)).toHaveLength(1);
    expect(cpuMs() - began).toBeLessThan(500);
  });

  describe('of a known sale', () => {
    it('the fee is what the total goes beyond the price', () => {
      const list = [
        { count: 1, total: 100 },
        { count: 3, total: '102,5' },
        { count: 6, total: '105.1000' },
      ];
      expect(rows(list, SALE)).toEqual([
        { count: 1, total: '100.00', fee: '0.00' },
        { count: 3, total: '102.50', fee: '2.50' },
        { count: 6, total: '105.10', fee: '5.10' },
      ]);
    });

    it.each<[string, object[], object]>([
      ['less than the price', [{ count: 3, total: 50 }], {}],
      [
        'another price in full',
        [
          { count: 1, total: 120 },
          { count: 3, total: 125 },
        ],
        {},
      ],
      ['a price that is named', [{ count: 3, total: 125 }], { amount: 120 }],
      ['a fee that does not add up', [{ count: 3, total: 105, fee: 3 }], {}],
      ['more decimals than the currency has', [{ count: 3, total: '105.125' }], {}],
    ])('no total is told of another sale: %s', (_name, list, more) => {
      for (const row of rows(list, SALE, more)!) expect(row).toMatchObject({ total: null });
    });
  });
});
