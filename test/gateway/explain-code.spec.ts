import { DEFAULT_CODE_SETS, explainCode, type RetryAdvice } from 'nestjs-card-payment';
import { CARD_DECLINES, codesOf, DECLINES, PUBLIC_CODES } from './public-codes.js';

const CODES = PUBLIC_CODES.map(([code = '']) => code);
const LANGUAGES = ['tr', 'en'] as const;
const DO_NOT_PAY_AGAIN = { tr: /Lütfen yeniden ödeme yapmayın/, en: /Please do not pay again/ };

/** Codes whose texts in the vendor's list say that a bank suspects the card or its holder. */
const SENSITIVE = PUBLIC_CODES.filter(([, en = '']) =>
  /pick.?up|capture|fraud|stolen|lost|restricted|security|violation|policy|tries exceeded/i.test(en),
).map(([code = '']) => code);
const SUSPICION = {
  tr: /çalın|kayıp|kayb|dolandır|sahte|şüphe|el k[oa]|kısıtl|yasak|güvenlik|ihlal|kara liste|yasa/i,
  en: /stolen|lost|fraud|suspect|suspic|pick|captur|restrict|secur(?!e\b)|violat|policy|law|blacklist|keep/i,
};

describe('explainCode', () => {
  it('knows every code of the public list, in Turkish and in English', () => {
    expect(CODES).toHaveLength(89);
    for (const language of LANGUAGES) {
      const unknown = explainCode('B4711', language).whatHappened;
      for (const code of CODES) expect(explainCode(code, language).whatHappened).not.toBe(unknown);
    }
    for (const code of CODES) expect(explainCode(code, 'tr').retry).toBe(explainCode(code, 'en').retry);
  });

  it('says nothing to the buyer of what a bank suspects, not even by another advice', () => {
    expect(SENSITIVE.length).toBeGreaterThan(15);
    expect(SENSITIVE).toEqual(expect.arrayContaining(['B0004', 'B0007', 'B0034', 'B0041', 'B0043', 'B0059']));
    for (const language of LANGUAGES) {
      const { tellBuyer, retry } = explainCode('B0005', language);
      for (const code of SENSITIVE) expect(explainCode(code, language)).toMatchObject({ code, tellBuyer, retry });
      for (const code of CODES) expect(explainCode(code, language).tellBuyer).not.toMatch(SUSPICION[language]);
    }
  });

  it.each(LANGUAGES)('asks nobody to pay again where money moved or may have moved (%s)', (language) => {
    const { approvalVariantCodes, indeterminateCodes, declinedCodes } = DEFAULT_CODE_SETS;
    expect(explainCode('B0000', language).retry).toBe('never');
    for (const code of CODES) {
      const isOpen = approvalVariantCodes.has(code) || indeterminateCodes.has(code);
      const { tellBuyer, retry } = explainCode(code, language);
      if (isOpen) expect([code, retry]).toEqual([code, 'never']);
      expect([code, DO_NOT_PAY_AGAIN[language].test(tellBuyer)]).toEqual([code, isOpen]);
      expect(isOpen && declinedCodes.has(code)).toBe(false);
    }
  });

  it.each<[string | null, RetryAdvice, tellBuyer: RegExp]>([
    ['B0051', 'other_card', /limit/],
    ['B0014', 'same_card', /card number/],
    ['B0090', 'later', /few minutes/],
    // The gateway's own validation refuses the request.
    ['RVV0000000401', 'never', /could not be made/],
    ...['B4711', 'constructor', null].map((code): [string | null, RetryAdvice, RegExp] => {
      return [code, 'never', /contact the shop before you pay again/];
    }),
  ])('advises on %s: %s', (code, retry, tellBuyer) => {
    const texts = { tellBuyer: expect.stringMatching(tellBuyer), whatHappened: expect.any(String) };
    expect(explainCode(code, 'en')).toEqual({ code, retry, ...texts });
  });

  it('speaks Turkish unless asked otherwise', () => {
    const [tr, en] = [explainCode('B0051', 'tr'), explainCode('B0051', 'en')];
    expect([explainCode('B0051'), explainCode('B0051', 'tr-TR')]).toEqual([tr, tr]);
    expect([explainCode('B0051', 'en-GB'), explainCode('B0051', 'de')]).toEqual([en, en]);
  });
});

test.each<[keyof typeof DEFAULT_CODE_SETS, readonly string[]]>([
  ['approvedCodes', ['B0000']],
  ['refundApprovedCodes', ['00', 'B0000']],
  ['approvalVariantCodes', codesOf('variant')],
  ['indeterminateCodes', codesOf('indeterminate')],
  ['declinedCodes', DECLINES],
  // About the card: not about the request, the merchant, the terminal, the record or the system.
  ['inquiryDeclinedCodes', CARD_DECLINES],
  ['inquiryUnpaidCodes', ['B0017', 'B0025', 'B0029']],
  // Which code says "not found" is not public.
  ['notFoundCodes', []],
  ['declinedPrefixes', ['RVV']],
])('the codes of %s', (name, codes) => {
  expect([...DEFAULT_CODE_SETS[name]!].sort()).toEqual(codes);
});
